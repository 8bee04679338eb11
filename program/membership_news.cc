#include "program/membership_news.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/limits.h"
#include "base/log.h"

namespace ringside::program {
namespace {

// Who is in the one and not in the other, each with that sign.
void add_missing(const shard::Topology& those, const shard::Topology& others, char sign,
                 std::vector<std::string>& out) {
  for (const shard::Member& member : those.members()) {
    if (!others.find(member.name)) out.push_back(sign + member.name);
  }
}

std::string who_of(const shard::Topology& before, const shard::Topology& after) {
  std::vector<std::string> who;
  add_missing(after, before, '+', who);
  add_missing(before, after, '-', who);
  if (who.empty()) return {};
  const std::size_t more = who.size() - std::min(who.size(), limits::members_in_log);
  who.resize(who.size() - more);
  return fmt::format(": {}{}", fmt::join(who, " "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace

std::string change_text(const tier::Membership& before, const tier::Membership& after,
                        std::string_view by) {
  const shard::Topology& old = *before.topology;
  const shard::Topology& now = *after.topology;
  if (old.version() == now.version() && before.topology_id == after.topology_id) return {};
  std::string text =
      fmt::format("topology: version {} -> {}, {} -> {} replicas{}", old.version(), now.version(),
                  old.members().size(), now.members().size(), who_of(old, now));
  if (old.scheme() != now.scheme())
    text += fmt::format("; scheme {} -> {}", old.scheme(), now.scheme());
  const std::size_t shards = now.state().shards.size();
  if (now.scheme() == old.scheme() && old.state().shards.size() != shards) {
    text += fmt::format("; {} -> {} shards", old.state().shards.size(), shards);
  }
  if (old.state().table != now.state().table) text += "; another table";
  return fmt::format("{}; by {}", text, by);
}

void log_change(const tier::MembershipPointer& before, const tier::MembershipPointer& after,
                std::string_view by) {
  const std::string text = change_text(*before, *after, by);
  if (!text.empty()) log::info("{}", text);
}

}  // namespace ringside::program
