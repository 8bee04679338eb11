#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/body.h"
#include "cache/freshness.h"
#include "http/field_lines.h"
#include "http/head.h"

namespace ringside::cache {

// Where a body lies in the whole that it is part of.
struct Extent {
  std::uint64_t first_byte = 0;
  std::uint64_t complete_length_bytes = 0;
  bool operator==(const Extent&) const = default;
};

// True for the fields that tell the digest of one message's content: not that of a part, where it
// is the whole's, nor the other way (RFC 9530 §2, RFC 2616 §14.15).
[[nodiscard]] bool is_digest_of_content(std::string_view field_name) noexcept;

// A response's head as it is kept: immutable, shared by reference count between cores.
class StoredHead {
 public:
  // What a head is made with, beside the origin's answer.
  struct Making {
    Freshness freshness;
    std::string_view own_name;  // for Via
    std::vector<std::string> vary;
    std::string variant;
    std::vector<std::string> withheld;                 // see fields_not_stored
    std::optional<TimePoint> received = std::nullopt;  // for Date; absent: the freshness's
  };
  // From an origin's answer. Fields that are never stored or that are written anew for each answer
  // are left out: hop-by-hop, internal, those withheld, Age, Content-Length. Our Via is added, and
  // a Date where there is none (RFC 9110 §6.6.1). A 206 is kept as the 200 that it is part of,
  // without its Content-Range.
  StoredHead(const http::ResponseHead& response, Making making);
  // What another one was kept with, as it was.
  struct Kept {
    int status = 0;
    Freshness freshness;
    std::vector<std::string> vary;
    std::string variant;
    std::string reason;
    std::string_view lines;  // that FieldLines could have made
  };
  [[nodiscard]] static std::shared_ptr<const StoredHead> restored(Kept kept);
  // Its operator delete is the one that is told the size.
  // NOLINTNEXTLINE(misc-new-delete-overloads)
  static void* operator new(std::size_t bytes) { return Cells::all().allocate(bytes); }
  static void operator delete(void* cell, std::size_t bytes) { Cells::all().free(cell, bytes); }
  StoredHead(const StoredHead&) = delete;
  StoredHead& operator=(const StoredHead&) = delete;

  // The head after a 304 with those fields to `request`: they replace those of the same name (RFC
  // 9111 §3.2), except what describes the stored body, and give it a new life (§4.3.4).
  [[nodiscard]] static std::shared_ptr<const StoredHead> updated(const StoredHead& stored,
                                                                 const http::Fields& fields,
                                                                 const http::Fields& request,
                                                                 const ExchangeTimes& times,
                                                                 const Rules& rules);

  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  // The field lines as they are sent, but for what the moment adds.
  [[nodiscard]] std::string_view lines() const noexcept { return lines_; }
  // Whether they go on to a client as they are, whatever hops of ours they pass.
  [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }
  [[nodiscard]] const http::Fields& fields() const noexcept { return fields_; }
  [[nodiscard]] const Freshness& freshness() const noexcept { return freshness_; }
  [[nodiscard]] const std::vector<std::string>& vary() const noexcept { return vary_; }
  // Its Vary says all of that; it may have been withheld.
  [[nodiscard]] bool shows_vary() const noexcept { return shows_vary_; }
  [[nodiscard]] const std::string& variant() const noexcept { return variant_; }
  [[nodiscard]] std::size_t cost_bytes() const noexcept;

 private:
  StoredHead(int status, const Freshness& freshness, std::vector<std::string> vary,
             std::string variant);
  void keep(std::string_view lines);

  int status_;
  Freshness freshness_;
  std::vector<std::string> vary_;  // the names; see vary_names
  std::string variant_;            // the variant_key of the request that it answered
  std::string reason_;
  CellString lines_;
  http::Fields fields_;  // views into lines_
  bool is_ready_ = false;
  bool shows_vary_ = false;
};

// A stored response, whole or a part of one (RFC 9111 §3.3).
struct StoredResponse {
  std::shared_ptr<const StoredHead> head;
  std::shared_ptr<const Body> body;
  std::optional<Extent> extent = std::nullopt;  // nullopt: the body is whole
  // Without the pieces that a BodyMemory counts.
  [[nodiscard]] std::size_t cost_bytes() const noexcept;
};
using StoredPointer = std::shared_ptr<const StoredResponse>;

// To be stored.
[[nodiscard]] inline StoredPointer make_stored(StoredResponse response) {
  return std::allocate_shared<const StoredResponse>(CellAllocator<const StoredResponse>(),
                                                    std::move(response));
}

}  // namespace ringside::cache
