#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ringside::shard {

// One shard of a scheme with state. Its number is its place in the State, for as long as there is
// one: a shard that is cut keeps its number and a part of its keys, and the new one has the next.
struct Shard {
  std::string at;     // what it holds, in the words of its scheme: a first key, a leaf, a key
  std::string owner;  // a member's name; empty: whoever has it by shard/share_out.h
  std::optional<std::size_t> parent{};  // the number of the one of which it was cut, a lower one
  std::string route{};  // whose keys it holds, where routes have schemes of their own; else empty
  bool operator==(const Shard&) const = default;
};

// Which buckets a member of a `vbucket` table has (shard/bucket_table.h).
struct TableRow {
  std::string member;
  std::string buckets;  // such as `0-818,16383-15900`, those that it has had the longest first
  bool operator==(const TableRow&) const = default;
};

// What a scheme knows beside the members, where it has state: a value that is a part of the
// topology and of its id. It has one writer; all others use what that one published.
struct State {
  std::vector<Shard> shards;
  std::string fallback{};         // of each `directory`: the scheme of keys that it does not have
  std::vector<TableRow> table{};  // of `vbucket`: what a tier had before its last change
  // Whether there may be shards to be cut, or keys to be placed.
  [[nodiscard]] bool has_shards() const noexcept { return !shards.empty() || !fallback.empty(); }
  [[nodiscard]] bool is_empty() const noexcept { return !has_shards() && table.empty(); }
  bool operator==(const State&) const = default;
};

// How a shard is cut, or in `directory` keys are placed.
struct Cut {
  std::size_t shard = 0;  // the number of the one that is cut
  std::vector<std::string>
      at;  // the first keys of the new ones; none where the scheme knows itself
  std::vector<std::string> owners;  // of the new ones, in the same order; missing: nobody is named
  bool only_new = false;            // keys that are placed already stay where they are
  // Whose shard it is, for a directory that has no keys yet; nullopt: `shard` says it.
  std::optional<std::string> route{};
};

// What holds of the state of every scheme: no more than `most` shards, each with a parent before it
// or none, owners that may be names of members, and an `at` that is printable or empty. An Error
// says which shard is wrong.
[[nodiscard]] Result<void> check_shards(const State& state, std::size_t most);

// A shard in an Error: `shards[3]`.
[[nodiscard]] std::string place_of(std::size_t shard);

}  // namespace ringside::shard
