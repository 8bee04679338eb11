#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace ringside::tier {

// A purge, or what an unsafe method has made invalid: who told the replicas of it, and the how
// manyth of that one's it is. Never ordered by clocks.
struct PurgeNumber {
  std::string issuer;  // a token
  std::uint64_t number = 0;
  bool operator==(const PurgeNumber&) const = default;
};
// `ISSUER NUMBER`
[[nodiscard]] std::string to_text(const PurgeNumber& purge);
[[nodiscard]] std::optional<PurgeNumber> parse_purge_number(std::string_view text);

// How far a replica has come with each issuer's. What another one gives that has not come as far
// may be what is purged here already: it is not taken. A value; not thread-safe.
//
// Only what was begun within limits::purges_remembered counts: a purge is under way for no longer,
// and a replica that was born since does not know of it.
class Purges {
 public:
  // Before anything is removed, and when all is.
  void begin(const PurgeNumber& purge, SteadyPoint now);
  void end(const PurgeNumber& purge);

  // What is done: `ISSUER NUMBER, ISSUER NUMBER`.
  [[nodiscard]] std::string done() const;
  // Whether who says that has done all that was begun here. What is no such text says nothing.
  [[nodiscard]] bool are_covered_by(std::string_view done, SteadyPoint now) const;

 private:
  struct Row {
    std::string issuer;
    std::uint64_t begun = 0;
    std::uint64_t done = 0;
    SteadyPoint begun_at{};  // the last one
  };
  [[nodiscard]] Row& row_of(std::string_view issuer);

  std::vector<Row> rows_;  // limits::purge_issuers at most; who was heard of last stands last
};

}  // namespace ringside::tier
