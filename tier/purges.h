#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace ringside::tier {

// A purge, or what an unsafe method has made invalid: who told the replicas of it, and the how
// manyth of that one's it is. Each is told to every replica. Never ordered by clocks.
struct PurgeNumber {
  std::string issuer;  // a token
  std::uint64_t number = 0;
  // All up to this one were confirmed when it was issued, or those who had not are known to have
  // missed them. Nullopt: all before it.
  std::optional<std::uint64_t> settled{};
  bool operator==(const PurgeNumber&) const = default;
};
// `ISSUER NUMBER`, without what is settled.
[[nodiscard]] std::string to_text(const PurgeNumber& purge);
// `settled` in decimal digits; anything else is none.
[[nodiscard]] std::optional<PurgeNumber> parse_purge_number(std::string_view text,
                                                            std::string_view settled = {});

// Numbers what one issuer tells, and knows which of it is under way. A value; not thread-safe.
class PurgeNumbering {
 public:
  // `issuer` as in PurgeNumber.
  explicit PurgeNumbering(std::string issuer) : issuer_(std::move(issuer)) {}
  // One more, which is under way until end().
  [[nodiscard]] PurgeNumber begin();
  void end(std::uint64_t number) { under_way_.erase(number); }
  // The last one that was begun.
  [[nodiscard]] PurgeNumber last() const { return {issuer_, issued_}; }

 private:
  std::string issuer_;
  std::uint64_t issued_ = 0;
  std::set<std::uint64_t> under_way_;
};

// One number of an issuer, which has begin() and end() like PurgeNumbering and outlives this: it is
// under way for as long as this lives.
template <class Issuer>
class IssuedPurge {
 public:
  explicit IssuedPurge(Issuer& issuer) : issuer_(issuer), number_(issuer.begin()) {}
  ~IssuedPurge() { issuer_.end(number_.number); }
  IssuedPurge(const IssuedPurge&) = delete;
  IssuedPurge& operator=(const IssuedPurge&) = delete;
  [[nodiscard]] const PurgeNumber& number() const noexcept { return number_; }

 private:
  Issuer& issuer_;
  const PurgeNumber number_;
};

// Numbers of one issuer: all up to one, and some beyond, which came before those that are missing.
class NumberSet {
 public:
  [[nodiscard]] static NumberSet all_up_to(std::uint64_t number);
  void add(std::uint64_t number);
  void add_all_up_to(std::uint64_t number);
  [[nodiscard]] bool contains(std::uint64_t number) const noexcept;
  [[nodiscard]] bool contains_all_of(const NumberSet& other) const noexcept;
  [[nodiscard]] bool empty() const noexcept { return is_empty_; }

  // `7` for all up to that, `7+9+12` where these are beyond.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static std::optional<NumberSet> parse(std::string_view text);
  bool operator==(const NumberSet&) const = default;

 private:
  void close_up();

  bool is_empty_ = true;
  std::uint64_t up_to_ = 0;
  std::vector<std::uint64_t> beyond_;  // ascending; limits::purges_beyond at most
};

// What a replica has begun and done of each issuer's. A value; not thread-safe.
class Purges {
 public:
  // Before anything is removed, and when all is. With the first of an issuer's that begins, those
  // that were settled before it count as done: this replica was born since, or has forgotten them.
  // Others may be on their way here still.
  void begin(const PurgeNumber& purge, SteadyPoint now);
  void end(const PurgeNumber& purge);
  // Something was removed here whose number is told in a moment; until then, for
  // limits::number_patience at most, nobody is known to have done it.
  void begin_unnumbered(SteadyPoint now);
  void number_is_told();
  [[nodiscard]] bool awaits_number(SteadyPoint now) const noexcept {
    return !unnumbered_.empty() && now < unnumbered_.back();
  }
  // All of an issuer's up to one, whatever was missed of them: before everything is removed, and
  // when it is.
  void begin_all_up_to(const PurgeNumber& purge, SteadyPoint now);
  void end_all_up_to(const PurgeNumber& purge);

  // What others must have done whose answers may be stored here: begun within
  // limits::purges_remembered. A purge is under way for no longer.
  struct Begun {
    std::string issuer;
    NumberSet numbers;
  };
  [[nodiscard]] std::vector<Begun> begun(SteadyPoint now) const;
  // What is done of what was begun within twice that time: `ISSUER NUMBERS, ISSUER NUMBERS`. Who
  // has heard of a purge later than we have, by no more than purges_remembered, asks for it when it
  // is none of those above any more.
  [[nodiscard]] std::string done(SteadyPoint now) const;
  // How long ago, in seconds, the last of each was begun, in the same order: `12, 340`.
  [[nodiscard]] std::string ages(SteadyPoint now) const;
  // Takes over what another one has done, and since when. For who holds nothing: it has nothing to
  // remove. An age that is missing or no number is 0.
  void adopt(std::string_view done, std::string_view ages, SteadyPoint now);

 private:
  struct Row {
    std::string issuer;
    NumberSet begun{};
    NumberSet done{};
    SteadyPoint begun_at{};  // the last one
  };
  [[nodiscard]] Row& row_of(std::string_view issuer);
  [[nodiscard]] static bool is_told(const Row& row, SteadyPoint now) noexcept;

  std::vector<SteadyPoint> unnumbered_;  // until when, ascending
  std::vector<Row> rows_;  // limits::purge_issuers at most; who was heard of last stands last
};

// Whether who says that has done all that was begun. What is no such text says nothing.
[[nodiscard]] bool are_done(const std::vector<Purges::Begun>& begun, std::string_view done);

}  // namespace ringside::tier
