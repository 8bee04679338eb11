#include "shard/nginx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace ringside::shard {
namespace {

constexpr std::uint32_t points_per_weight = arc_points;

constexpr auto crc_of_byte = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0U);
    table[byte] = crc;
  }
  return table;
}();

// The host, a zero byte and the port of a server's name, as nginx cuts it: a port is what stands
// behind the last colon if it is digits alone, and a socket's path has none.
std::string host_and_port(std::string_view name) {
  constexpr std::string_view socket = "unix:";
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  const auto same = [&](char a, char b) { return lower(a) == b; };
  if (name.size() >= socket.size() &&
      std::equal(socket.begin(), socket.end(), name.begin(),
                 [&](char of_socket, char of_name) { return same(of_name, of_socket); })) {
    return std::string(name.substr(socket.size())) + '\0';
  }
  const std::size_t digits = name.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || name[digits] != ':') return std::string(name) + '\0';
  std::string out(name);
  out[digits] = '\0';
  return out;
}

void put_points(std::vector<Circle::Point>& points, MemberIndex index, const std::string& name,
                std::uint32_t weight) {
  const std::uint32_t base = crc32_of(host_and_port(name));
  std::uint32_t point = 0;
  for (std::uint32_t n = 0; n < points_per_weight * weight; ++n) {
    std::array<char, 4> before{};
    for (unsigned i = 0; i < before.size(); ++i) before[i] = static_cast<char>(point >> 8 * i);
    point = crc32_of({before.data(), before.size()}, base);
    points.push_back({point, index});
  }
}

std::optional<Arcs> arcs_of(std::span<const Member> members, std::size_t buckets) {
  const auto space = arc_space(members, buckets);
  const auto names = space ? numbered_names(members, space->members()) : std::nullopt;
  if (!names) return std::nullopt;
  std::vector<Circle::Point> points;
  for (MemberIndex number = 0; number < space->members(); ++number) {
    put_points(points, number, names->name(number), space->weight);
  }
  return Arcs(std::move(points), names->name(0) + space->text());
}

Circle circle_of(std::span<const Member> members) {
  std::vector<Circle::Point> points;
  for (MemberIndex index = 0; index < members.size(); ++index) {
    put_points(points, index, members[index].name, members[index].weight);
  }
  points = Circle::in_order(std::move(points), 32);
  const auto same = [](const Circle::Point& a, const Circle::Point& b) {
    return a.position == b.position;
  };
  points.erase(std::unique(points.begin(), points.end(), same), points.end());
  return Circle(std::move(points), 32);
}

// Each value of a key ends with a newline: between values it stays.
std::uint32_t position_of(const ShardKey& key) noexcept {
  const bool ends = !key.bytes.empty() && key.bytes.back() == '\n';
  return crc32_of(key.bytes.substr(0, key.bytes.size() - (ends ? 1 : 0)));
}

}  // namespace

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before) noexcept {
  std::uint32_t crc = ~before;
  for (const char c : bytes) {
    crc = crc >> 8 ^ crc_of_byte[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  }
  return ~crc;
}

Nginx::Nginx(std::span<const Member> members, std::size_t buckets)
    : circle_(circle_of(members)), arcs_(arcs_of(members, buckets)) {}

MemberIndex Nginx::owner(const ShardKey& key) const { return circle_.owner(position_of(key)); }

void Nginx::owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const {
  circle_.owners(position_of(key), n, owners);
}

Bucket Nginx::bucket_for(const ShardKey& key) const noexcept {
  return arcs_->bucket_at(position_of(key));
}

void Nginx::owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const {
  circle_.owners(arcs_->position_of(bucket), n, owners);
}

std::vector<MemberIndex> Nginx::bucket_owners() const {
  return arcs_ ? arcs_->owners_on(circle_) : std::vector<MemberIndex>{};
}

std::string Nginx::own_numbers() const { return arcs_ ? arcs_->of_whom() : std::string(); }

Result<std::shared_ptr<const Scheme>> make_nginx(std::span<const Member> members) {
  return std::shared_ptr<const Scheme>(std::make_shared<Nginx>(members));
}

Result<std::shared_ptr<const Scheme>> make_nginx_within(std::span<const Member> members,
                                                        std::size_t buckets) {
  auto made = std::make_shared<Nginx>(members, buckets);
  if (members.empty() || !made->own_numbers().empty()) return std::shared_ptr<const Scheme>(made);
  return no_arcs(
      "nginx", buckets,
      fmt::format(", whose names differ only in a number from 0 to {}", buckets / arc_points - 1));
}

}  // namespace ringside::shard
