#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "hop/request_in_hand.h"
#include "net/core.h"
#include "net/deadlines.h"

namespace ringside::link {

// A request whose answer a link does not carry. It lives on by itself until the request over
// HTTP/1.1 comes that takes the answer, or its time is over.
class Begun {
 public:
  virtual ~Begun() = default;
  [[nodiscard]] virtual hop::RequestInHand& in_hand() noexcept = 0;
};

// What a core has begun and nobody has taken yet: at most limits::tickets of them, each for
// limits::ticket_timeout. On the core's thread.
class Tickets final : public net::Closable, private net::Deadline {
 public:
  explicit Tickets(net::Core& core);
  ~Tickets() override;
  void close() noexcept override;

  // The number under which it can be taken, which tells the core (core_of); 0: there is no room,
  // and it was not taken in.
  [[nodiscard]] std::uint64_t add(std::shared_ptr<Begun> begun);
  // Once; null: there is nothing under that number, or it is another request's.
  [[nodiscard]] std::shared_ptr<Begun> take(std::uint64_t number, const http::RequestHead& request);

 private:
  struct Row {
    std::shared_ptr<Begun> begun;
    SteadyPoint until;
    std::unique_ptr<net::Errand> errand;
  };
  void expire() noexcept override;
  void drop_until(SteadyPoint time);

  net::Core& core_;
  std::mt19937_64 numbers_;
  std::unordered_map<std::uint64_t, Row> rows_;
  std::shared_ptr<Tickets*> self_;  // for what is posted: null once this is gone
};

// The index of the core that has given the number out.
[[nodiscard]] std::size_t core_of(std::uint64_t ticket) noexcept;
// The value of http::internal::ticket. 0: it is none.
[[nodiscard]] std::uint64_t parse_ticket(std::string_view text) noexcept;

}  // namespace ringside::link
