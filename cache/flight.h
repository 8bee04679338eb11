#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/limits.h"
#include "cache/cache_key.h"
#include "cache/reader_order.h"
#include "cache/stored_response.h"
#include "net/waiter.h"

namespace ringside::cache {

class Store;

// One fetch that many requests wait for: the leader's coroutine writes, every request (the leader's
// too) reads. Readers on all cores; the bytes are shared, not copied. Thread-safe.
//
//   asking ──publish──▶ streaming ──finish──▶ done
//      │                    └───────fail────▶ failed
//      ├──complete──▶ done (a 304, or something stale: what was stored is the answer)
//      ├──release───▶ released (not for sharing: each request goes its own way)
//      └──fail──────▶ failed
class Flight {
 public:
  enum class State { asking, streaming, done, failed, released };

  // What a flight's answer is, known before its body.
  struct Answer {
    std::shared_ptr<const StoredHead> head;
    std::optional<std::uint64_t> length_bytes;  // of the body that follows, where known
    std::optional<Extent> extent;               // which part of the whole it is; nullopt: all
    bool is_kept = true;                        // false: it is too large to be stored
    bool was_stored = false;  // by the holder: not every request takes what is so old
  };

  // One request's place in the flight. On its core's thread; leaves the flight when destroyed.
  class Reader {
   public:
    Reader(std::shared_ptr<Flight> flight, net::Core& core);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // False: the flight had begun to let go of its bytes; this request must go its own way.
    [[nodiscard]] bool joined() const noexcept { return joined_; }
    // Waits until the head is known, or the flight has ended without one. False: the deadline came.
    Task<bool> wait_for_head(SteadyPoint deadline);
    // Some of the body.
    struct Taken {
      std::vector<PiecePointer> pieces;
      bool last = false;  // nothing follows
    };
    // What is there already; nullopt: nothing yet. An Error: the fetch failed, or this reader was
    // left_behind().
    [[nodiscard]] std::optional<Result<Taken>> take();
    // The same, waiting for it. An Error may be the deadline, too.
    Task<Result<Taken>> next(Milliseconds timeout);
    // The flight keeps no whole body, and its bytes went by before this reader took them. What
    // follows offset_bytes() it must get elsewhere.
    [[nodiscard]] bool left_behind() const noexcept { return left_behind_; }
    [[nodiscard]] std::uint64_t offset_bytes() const noexcept { return place_.offset_bytes(); }
    // What the flight keeps for its readers that nobody else keeps (see cache::pinned_bytes).
    [[nodiscard]] std::size_t pinned_bytes() const;

   private:
    friend class Flight;
    struct Wait : boost::intrusive::list_base_hook<
                      boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
      std::shared_ptr<net::Waiter::Bell> bell;
      bool is_rung = false;  // and has not come yet
    };

    void stop_waiting();
    Taken take_some();

    std::shared_ptr<Flight> flight_;
    net::Core& core_;
    net::Waiter waiter_;
    ReaderOrder::Place place_;  // under the flight's mutex; written on the core's thread alone
    Wait wait_;                 // under the flight's mutex
    bool joined_ = false;
    bool left_behind_ = false;
  };

  Flight(CacheKey key, std::string name, std::uint64_t purges_seen);

  [[nodiscard]] const CacheKey& key() const noexcept { return key_; }
  // Under which it stands in the FlightTable.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t purges_seen() const noexcept { return purges_seen_; }

  // What is fetched may not be stored any more: an unsafe method has succeeded meanwhile.
  void outdate() noexcept { outdated_.store(true); }
  [[nodiscard]] bool outdated() const noexcept { return outdated_.load(); }
  [[nodiscard]] const std::atomic<bool>& outdated_mark() const noexcept { return outdated_; }

  // What readers may know once they have waited for the head.
  [[nodiscard]] State state() const;
  [[nodiscard]] Answer answer() const;                    // without a head: there is none
  [[nodiscard]] StoredPointer complete_response() const;  // after complete()
  // Why it was completed without a new answer: what of it a reader may give is for each to judge.
  enum class Completion {
    confirmed,    // what was stored is good again: the origin says so
    found,        // what is stored was fresh for the one who led
    unreachable,  // it is stale, and no origin answered
    failed,       // it is stale, and the origin answered with an error
  };
  [[nodiscard]] Completion completion() const;  // after complete()
  [[nodiscard]] Error error() const;

  // The leader's side.
  void publish(Answer answer);
  void append(PiecePointer piece);
  void finish();
  void complete(StoredPointer response, Completion completion);
  void release();
  void fail(Error error);

  // From now on the body will not be stored: of its pieces a window is kept, and no reader may join
  // any more.
  void stop_keeping();
  // Waits until the reader that is furthest has taken all but `window_bytes`, and
  // nobody is too far behind it (limits::flight_lag_bytes). For each slow reader it waits no longer
  // than limits::flight_patience in all calls together; then that one is left behind (see Reader).
  // False: no reader is left, or the furthest takes nothing before the deadline. Only after
  // stop_keeping().
  Task<bool> wait_for_room(net::Waiter& leader, Milliseconds timeout,
                           std::size_t window_bytes = limits::flight_window_bytes);
  // Everything that was appended; only before stop_keeping().
  [[nodiscard]] std::vector<PiecePointer> pieces() const;

 private:
  using Waits = boost::intrusive::list<Reader::Wait, boost::intrusive::constant_time_size<false>>;

  void tell_readers();
  void ring_some();
  void has_come(Reader::Wait& place);
  void leave(Reader& reader);
  [[nodiscard]] bool has_room() const;
  void drop_what_was_read();

  const CacheKey key_;
  const std::string name_;
  const std::uint64_t purges_seen_;
  std::atomic<bool> outdated_{false};

  mutable std::mutex mutex_;  // of all below
  State state_ = State::asking;
  Answer answer_;
  StoredPointer complete_;
  Completion completion_ = Completion::confirmed;
  Error error_;
  bool keeping_ = true;
  std::vector<PiecePointer> pieces_;  // null where let go
  std::size_t first_kept_ = 0;
  std::uint64_t appended_bytes_ = 0;
  ReaderOrder readers_;
  Waits waiting_;                                   // readers that have all there is
  Waits to_ring_;                                   // readers for whom something has come since
  std::size_t rung_ = 0;                            // readers that were told and have not come yet
  std::shared_ptr<net::Waiter::Bell> leader_bell_;  // while the leader waits for room
  bool leader_waits_for_slow_ = false;
  std::size_t window_bytes_ = limits::flight_window_bytes;
};

}  // namespace ringside::cache
