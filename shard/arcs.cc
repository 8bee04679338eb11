#include "shard/arcs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace ringside::shard {
namespace {

std::vector<Circle::Point> distinct(std::vector<Circle::Point> points) {
  points = Circle::in_order(std::move(points), 32);
  const auto same = [](const Circle::Point& a, const Circle::Point& b) {
    return a.position == b.position;
  };
  points.erase(std::unique(points.begin(), points.end(), same), points.end());
  return points;
}

constexpr std::string_view decimal_digits = "0123456789";

// Of the digits there, which have no leading zero; nullopt: it is no member's.
std::optional<std::size_t> number_at(std::string_view text, std::size_t at, std::size_t end) {
  std::size_t number = 0;
  const std::string_view written = text.substr(at, end - at);
  if (written.empty() || (written.size() > 1 && written.front() == '0')) return std::nullopt;
  const auto read = std::from_chars(written.data(), written.data() + written.size(), number);
  if (read.ec != std::errc{} || read.ptr != written.data() + written.size()) return std::nullopt;
  return number;
}

bool are_numbered(std::span<const Member> members, const NumberedNames& names, std::size_t most) {
  return std::all_of(members.begin(), members.end(), [&](const Member& member) {
    const std::string_view name = member.name;
    if (name.size() <= names.before.size() + names.after.size()) return false;
    if (!name.starts_with(names.before) || !name.ends_with(names.after)) return false;
    const auto number = number_at(name, names.before.size(), name.size() - names.after.size());
    return number && *number < most;
  });
}

}  // namespace

std::string ArcSpace::text() const {
  const std::string of_weight = weight == 1 ? "" : fmt::format(" {}", weight);
  return buckets == bucket_count ? of_weight : fmt::format("{} in {}", of_weight, buckets);
}

std::optional<ArcSpace> arc_space(std::span<const Member> members, std::size_t buckets) {
  ArcSpace space{buckets};
  for (const Member& member : members) {
    while (space.weight < member.weight && space.weight <= arc_members) space.weight *= 2;
  }
  if (members.empty() || members.size() > space.members()) return std::nullopt;
  return space;
}

Error no_arcs(std::string_view scheme, std::size_t buckets, std::string_view names) {
  const std::size_t most = buckets / arc_points;
  return invalid_input(fmt::format(
      "{} may be one of several schemes with up to {} replicas{}, or {} with weights up to 2, and "
      "so on; choose another scheme, or give no route one",
      scheme, most, names, most / 2));
}

Arcs::Arcs(std::vector<Circle::Point> points, std::string of_whom)
    : cuts_(distinct(std::move(points)), 32), of_whom_(std::move(of_whom)) {}

std::vector<MemberIndex> Arcs::owners_on(const Circle& circle) const {
  std::vector<MemberIndex> owners;
  if (circle.points().empty()) return owners;
  owners.reserve(size());
  for (const Circle::Point& cut : cuts_.points()) owners.push_back(circle.owner(cut.position));
  return owners;
}

std::string NumberedNames::name(std::size_t number) const {
  return before + std::to_string(number) + after;
}

// Any run of digits of the first name may be the number: the last one that is one in all names is
// taken, since a host's port or the end of an address stands behind what is common more often.
std::optional<NumberedNames> numbered_names(std::span<const Member> members, std::size_t most) {
  if (members.empty()) return std::nullopt;
  const std::string_view first = members.front().name;
  std::size_t end = first.find_last_of(decimal_digits);
  while (end != std::string_view::npos) {
    const std::size_t before = first.find_last_not_of(decimal_digits, end);
    const std::size_t at = before == std::string_view::npos ? 0 : before + 1;
    NumberedNames names{std::string(first.substr(0, at)), std::string(first.substr(end + 1))};
    if (are_numbered(members, names, most)) return names;
    if (at == 0) break;
    end = first.find_last_of(decimal_digits, at - 1);
  }
  return std::nullopt;
}

}  // namespace ringside::shard
