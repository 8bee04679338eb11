#include "program/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/quotation.h"
#include "program/key_text.h"
#include "program/quantities.h"

namespace ringside::program {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t numbers_shown = 3;  // of small shards, before the last one

std::string who(const std::string& name) { return name.empty() ? "(nobody)" : name; }

std::string bytes_text(double bytes) {
  constexpr double next = 1024;
  const auto* unit = "bytes";
  for (const auto* larger : {"KiB", "MiB", "GiB", "TiB"}) {
    if (bytes < next) break;
    bytes /= next;
    unit = larger;
  }
  return fmt::format("{:.{}f} {}", bytes, std::string_view(unit) == "bytes" ? 0 : 1, unit);
}

std::string whole(double number) { return grouped(static_cast<std::size_t>(std::llround(number))); }

std::string_view unit_name(const Plan& plan) noexcept {
  if (!plan.by_bucket) return "sampled keys";
  const shard::Topology& after = *plan.after;
  return after.state().shards.empty() || after.first_shard() > 0 ? "buckets" : "shards";
}

// Of what moved_share() is one.
std::string share_of_what(const Plan& plan) {
  if (plan.stored_share) return "what is stored";
  const bool has_shards = plan.by_bucket && plan.after->state().has_shards();
  return fmt::format("the {}", has_shards ? unit_name(plan) : "keys");
}

void append_line(std::string& out, std::string_view head, const std::string& text) {
  fmt::format_to(std::back_inserter(out), "{:<10} {}\n", head, text);
}

void append_share(std::string& out, const Plan& plan) {
  const std::string share = percent_text(plan.moved_share());
  const std::string moved = grouped(plan.moved);
  const std::string units = grouped(plan.units);
  if (plan.by_bucket) {
    const bool has_shards = plan.after->state().has_shards();
    const std::string_view of = plan.stored_share ? " of what is stored"
                                : has_shards      ? ", each counting as one"
                                                  : "";
    append_line(out, unit_name(plan),
                fmt::format("{} of {} get another owner ({}{})", moved, units, share, of));
  } else {
    append_line(out, "keys",
                fmt::format("{} get another owner (estimated: {} of {} sampled ones)", share, moved,
                            units));
  }
}

// The shard that a bucket is; nullptr: its keys are those of a hash.
const shard::Shard* shard_of(const shard::Topology& topology, shard::Bucket bucket) noexcept {
  const auto& shards = topology.state().shards;
  const std::size_t first = topology.first_shard();
  return bucket < first || bucket - first >= shards.size() ? nullptr : &shards[bucket - first];
}

// `: "a", "m", films "t", …`: which shards they are, of a scheme that has some, or of a route's.
std::string shards_text(const Plan& plan, const PlannedMove& move) {
  std::string out;
  std::size_t count = 0;
  for (const shard::Bucket bucket : move.buckets) {
    const shard::Shard* const shard = shard_of(*plan.after, bucket);
    if (shard == nullptr) continue;
    if (count++ == numbers_shown) return out + ", …";
    out += count == 1 ? ": " : ", ";
    if (!shard->route.empty()) out += shard->route + " ";
    out += quotation(key_text_of_at(shard->at));
  }
  return out;
}

void append_moves(std::string& out, const Plan& plan) {
  std::size_t from_width = 0;
  std::size_t to_width = 0;
  const std::size_t shown = std::min(plan.moves.size(), limits::plan_rows_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    from_width = std::max(from_width, who(plan.moves[i].from).size());
    to_width = std::max(to_width, plan.moves[i].to.size());
  }
  for (std::size_t i = 0; i < shown; ++i) {
    const PlannedMove& move = plan.moves[i];
    const std::string bytes = move.told ? "  about " + bytes_text(move.told->bytes) : "";
    append_line(
        out, "",
        fmt::format("{:<{}} -> {:<{}} {:>7} {}{}{}", who(move.from), from_width, move.to, to_width,
                    grouped(move.units), unit_name(plan), bytes, shards_text(plan, move)));
  }
  if (shown == plan.moves.size()) return;
  std::size_t rest = 0;
  for (std::size_t i = shown; i < plan.moves.size(); ++i) rest += plan.moves[i].units;
  append_line(out, "",
              fmt::format("and {} moves more, of {} {} (--json has them)",
                          grouped(plan.moves.size() - shown), grouped(rest), unit_name(plan)));
}

void append_bytes(std::string& out, const Plan& plan) {
  if (!plan.told || !plan.stored_bytes) {
    append_line(out, "bytes", "not known: no replica was asked what it has stored (--admin)");
    return;
  }
  append_line(out, "bytes",
              fmt::format("about {} of {} stored (estimated: of what each giver has stored the "
                          "share that {}its moved {} are)",
                          bytes_text(plan.told->bytes), bytes_text(*plan.stored_bytes),
                          plan.is_weighed ? "the responses of " : "", unit_name(plan)));
  if (plan.untold.empty()) return;
  append_line(out, "",
              fmt::format("without what {} of the givers have, as {}, of whose stores nothing is "
                          "known; give each one's --admin",
                          plan.untold.size(), plan.untold.front()));
}

void append_time(std::string& out, const Plan& plan) {
  if (!plan.by_bucket) {
    append_line(out, "time",
                "none: nothing moves by itself between two schemes that have other buckets, or "
                "with one that has none");
  } else if (plan.move_rate_mib_s == 0) {
    append_line(out, "time", "none: nothing moves by itself at --move-rate 0");
  } else if (plan.seconds) {
    append_line(out, "time",
                fmt::format("about {:.1f} s, at {} MiB a second into each replica (estimated)",
                            *plan.seconds, plan.move_rate_mib_s));
  }
}

void append_origin(std::string& out, const Plan& plan) {
  std::string text = fmt::format(
      "{} {} of {} again",
      plan.by_bucket ? "without a handoff is asked for" : "is asked, for there is no handoff, for",
      percent_text(plan.moved_share()), share_of_what(plan));
  if (plan.request_share) {
    text += fmt::format(", {} of the requests", percent_text(*plan.request_share));
  }
  if (plan.told) text += fmt::format(", about {} stored responses", whole(plan.told->responses));
  append_line(out, "origin", text);
}

// `cache-0: 0, 10, 20, … 100`
std::string numbers_of(const Reshard& reshard, std::size_t Reshard::Small::*side,
                       std::size_t shard) {
  std::string out;
  std::size_t count = 0;
  std::size_t last = 0;
  for (std::size_t number = 0; number < reshard.small.size(); ++number) {
    if (reshard.small[number].*side != shard) continue;
    last = number;
    if (count++ < numbers_shown) {
      fmt::format_to(std::back_inserter(out), "{}{}", count == 1 ? "" : ", ", number);
    }
  }
  if (count > numbers_shown + 1) out += ", …";
  if (count > numbers_shown) fmt::format_to(std::back_inserter(out), ", {}", last);
  return out;
}

void append_step(std::string& out, const Reshard& reshard, std::size_t Reshard::Small::*side,
                 const std::vector<std::string>& shards, std::string_view arrow) {
  if (reshard.small.empty()) return;
  const std::size_t shown = std::min(shards.size(), limits::plan_rows_shown);
  for (std::size_t shard = 0; shard < shown; ++shard) {
    append_line(out, "",
                fmt::format("  {} {} {}", shards[shard], arrow, numbers_of(reshard, side, shard)));
  }
  if (shown < shards.size()) {
    append_line(out, "", fmt::format("  and {} more", grouped(shards.size() - shown)));
  }
}

void append_reshard(std::string& out, const Plan& plan) {
  if (!plan.reshard) return;
  const Reshard& reshard = *plan.reshard;
  const std::size_t before = reshard.before.size();
  const std::size_t after = reshard.after.size();
  append_line(out, "reshard",
              fmt::format("split: each of {} by {}, which makes {} small shards", before, after,
                          grouped(before * after)));
  append_step(out, reshard, &Reshard::Small::from, reshard.before, "->");
  append_line(out, "",
              fmt::format("merge: of the {} small ones {} make each of {}", grouped(before * after),
                          before, after));
  append_step(out, reshard, &Reshard::Small::to, reshard.after, "<-");
}

ordered_json side_json(const shard::Topology& topology) {
  return {{"id", topology.id().hex()},
          {"scheme", topology.scheme()},
          {"members", topology.members().size()}};
}

ordered_json told_json(const std::optional<StoreTold>& told) {
  if (!told) return nullptr;
  return std::llround(told->bytes);
}

// `[[0, 3], [7, 7]]`: the first and the last of each run.
ordered_json runs_json(const std::vector<shard::Bucket>& buckets) {
  auto runs = ordered_json::array();
  for (const shard::Bucket bucket : buckets) {
    if (!runs.empty() && runs.back()[1] == bucket - 1) {
      runs.back()[1] = bucket;
    } else {
      runs.push_back({bucket, bucket});
    }
  }
  return runs;
}

ordered_json move_json(const Plan& plan, const PlannedMove& move) {
  ordered_json out = {{"from", move.from.empty() ? ordered_json() : ordered_json(move.from)},
                      {"to", move.to},
                      {plan.by_bucket ? "buckets" : "sampled_keys", move.units},
                      {"estimated_bytes", told_json(move.told)}};
  if (!plan.by_bucket) return out;
  out["bucket_numbers"] = runs_json(move.buckets);
  if (plan.after->state().shards.empty()) return out;
  auto& shards = out["shards"] = ordered_json::array();
  for (const shard::Bucket bucket : move.buckets) {
    const shard::Shard* const shard = shard_of(*plan.after, bucket);
    if (shard == nullptr) continue;
    shards.push_back({{"at", shard->at}});
    if (!shard->route.empty()) shards.back()["route"] = shard->route;
  }
  return out;
}

ordered_json reshard_json(const Reshard& reshard) {
  auto small = ordered_json::array();
  for (std::size_t number = 0; number < reshard.small.size(); ++number) {
    const Reshard::Small& one = reshard.small[number];
    small.push_back({{"number", number},
                     {"split_from", reshard.before[one.from]},
                     {"merged_into", reshard.after[one.to]},
                     {"buckets", one.buckets}});
  }
  return {{"shards_before", reshard.before.size()},
          {"shards_after", reshard.after.size()},
          {"small_shards", reshard.before.size() * reshard.after.size()},
          {"small", std::move(small)}};
}

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

}  // namespace

std::string percent_text(double share) {
  constexpr double whole_percent = 100;
  return fmt::format("{:.1f} %", share * whole_percent);
}

std::string to_text(const Plan& plan) {
  std::string out;
  append_line(out, "replicas",
              fmt::format("{} -> {}", plan.before->members().size(), plan.after->members().size()));
  append_line(out, "scheme",
              plan.before->scheme() == plan.after->scheme()
                  ? std::string(plan.after->scheme())
                  : fmt::format("{} -> {}", plan.before->scheme(), plan.after->scheme()));
  append_share(out, plan);
  append_moves(out, plan);
  append_bytes(out, plan);
  append_time(out, plan);
  append_origin(out, plan);
  append_reshard(out, plan);
  return out;
}

std::string to_json(const Plan& plan) {
  auto moves = ordered_json::array();
  for (const PlannedMove& move : plan.moves) moves.push_back(move_json(plan, move));
  ordered_json page;
  page["before"] = side_json(*plan.before);
  page["after"] = side_json(*plan.after);
  page["unit"] = plan.by_bucket ? "bucket" : "sampled key";
  page["units"] = plan.units;
  page["moved"] = plan.moved;
  page["moved_share"] = plan.moved_share();
  page["moved_share_of"] = plan.stored_share ? "stored responses" : "units";
  page["moves"] = std::move(moves);
  page["stored_bytes"] =
      plan.stored_bytes ? ordered_json(std::llround(*plan.stored_bytes)) : ordered_json();
  page["estimated_bytes"] = told_json(plan.told);
  page["stores_not_known"] = plan.untold;
  page["move_rate_mib_s"] = plan.move_rate_mib_s;
  page["estimated_seconds"] = or_null(plan.seconds);
  page["has_handoff"] = plan.by_bucket;
  page["origin_without_handoff"] = {
      {"share_of_keys", plan.moved_share()},
      {"share_of_requests", or_null(plan.request_share)},
      {"stored_responses",
       plan.told ? ordered_json(std::llround(plan.told->responses)) : ordered_json()}};
  page["reshard"] = plan.reshard ? reshard_json(*plan.reshard) : ordered_json();
  return page.dump(2) + "\n";
}

}  // namespace ringside::program
