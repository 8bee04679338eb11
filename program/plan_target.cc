#include "program/plan_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/quotation.h"
#include "program/values.h"
#include "shard/schemes.h"
#include "shard/topology_json.h"

namespace ringside::program {
namespace {

using shard::Member;

bool is_number(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// `cache-` of cache-0, cache-1, …; an Error where the members are not numbered like that.
Result<std::string> numbered_stem(const std::vector<Member>& members) {
  if (members.empty()) return std::string("cache-");
  const std::string& first = members.front().name;
  const std::string stem = first.substr(0, first.size() - (first.ends_with('0') ? 1 : 0));
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].name == fmt::format("{}{}", stem, i)) continue;
    return invalid_input(
        fmt::format("a number tells no names where the replicas are not numbered from 0 without a "
                    "gap, and {} is among them; list the replicas, as NAME[;weight=N],…",
                    quotation(members[i].name)));
  }
  return stem;
}

Result<std::vector<Member>> members_of_count(const std::vector<Member>& present,
                                             std::string_view text) {
  const auto count = parse_number(text, 1, limits::members);
  if (!count) return count.error();
  std::vector<Member> members = present;
  if (*count < members.size()) {
    members.resize(static_cast<std::size_t>(*count));
    return members;
  }
  if (*count == members.size()) return members;
  const auto stem = numbered_stem(present);
  if (!stem) return stem.error();
  while (members.size() < *count) {
    members.push_back({fmt::format("{}{}", *stem, members.size()), 1, ""});
  }
  return members;
}

std::vector<Member> without_addresses(const std::vector<shard::MemberAt>& listed) {
  std::vector<Member> members;
  members.reserve(listed.size());
  for (const shard::MemberAt& one : listed) members.push_back(one.member);
  return members;
}

// A plan asks nobody, so that an address may be left out.
Result<std::vector<Member>> members_of_list(std::string_view text) {
  std::vector<Member> members;
  for (const std::string_view piece : split_list(text)) {
    const std::size_t options_at = std::min(piece.find(';'), piece.size());
    std::string written(piece);
    if (piece.substr(0, options_at).find('=') == std::string_view::npos) {
      if (options_at == 0) {
        return invalid_input(
            fmt::format("{} has no name; write NAME[=HOST:PORT][;weight=N],…", quotation(piece)));
      }
      written.insert(options_at, "=0.0.0.0:1");
    }
    const auto parsed = parse_members(written);
    if (!parsed) return parsed.error();
    for (const shard::MemberAt& one : *parsed) members.push_back(one.member);
  }
  return members;
}

Result<std::vector<Member>> members_of(const shard::Topology& present, std::string_view to) {
  if (to.empty()) return present.members();
  return is_number(to) ? members_of_count(present.members(), to) : members_of_list(to);
}

}  // namespace

Result<TopologyPointer> read_topology(std::string_view document) {
  const auto request = shard::parse_topology_json(document, shard::Addresses::not_needed);
  if (!request) return request.error();
  return shard::Topology::make(without_addresses(request->members), request->scheme,
                               request->version, request->state.value_or(shard::State{}));
}

Result<TopologyPointer> target_topology(const shard::Topology& present, const PlanTarget& target) {
  std::string scheme = target.scheme;
  Result<std::vector<Member>> members = std::vector<Member>();
  std::optional<shard::State> state;  // that the document has
  if (!target.document) {
    members = members_of(present, target.to);
    if (scheme.empty()) scheme = present.scheme();
  } else {
    // Its own scheme may have no place for them where another one is asked for.
    auto read = shard::parse_topology_json(*target.document, shard::Addresses::not_needed);
    if (!read) return read.error();
    members = without_addresses(read->members);
    if (scheme.empty()) scheme = read->scheme;
    if (scheme == read->scheme) state = read->state;
  }
  if (!members) return members.error();
  const auto schemes = shard::parse_schemes(scheme);
  if (!schemes) return schemes.error();
  scheme = schemes->text();
  if (members->empty()) {
    return invalid_input("no replica is left to plan for; name at least one");
  }
  if (!state) state = scheme == present.scheme() ? present.state() : shard::State{};
  return shard::Topology::make(*std::move(members), scheme, present.version() + 1,
                               *std::move(state));
}

Result<double> parse_share(std::string_view text) {
  double percent = 0;
  const bool has_sign = text.ends_with('%');
  const std::string_view number = text.substr(0, text.size() - (has_sign ? 1 : 0));
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), percent,
                                              std::chars_format::fixed);
  constexpr double whole = 100;
  if (has_sign && failure == std::errc() && end == number.data() + number.size() && percent >= 0 &&
      percent <= whole) {
    return percent / whole;
  }
  return invalid_input(fmt::format("{} is no share; write 0% to 100%", quotation(text)));
}

}  // namespace ringside::program
