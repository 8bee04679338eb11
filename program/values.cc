#include "program/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/limits.h"
#include "http/characters.h"
#include "http/fields.h"
#include "http/forwarded.h"
#include "http/target.h"
#include "shard/member.h"
#include "shard/quotation.h"

namespace ringside::program {
namespace {

using shard::quotation;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// Descending, so that a value is written in the largest unit that divides it.
constexpr std::array<Unit, 4> time_units{{{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::array<Unit, 4> ttl_units{{{"d", 86'400}, {"h", 3600}, {"m", 60}, {"s", 1}}};
constexpr std::string_view time_remedy = "write a number with ms, s, m or h, such as 250ms or 10s";
constexpr std::array<Unit, 4> size_units{
    {{"GiB", 1024 * limits::kMiB}, {"MiB", limits::kMiB}, {"KiB", limits::kKiB}, {"", 1}}};

template <std::size_t N>
std::string in_largest_unit(std::uint64_t value, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (value % unit.factor == 0 && value != 0) {
      return fmt::format("{}{}", value / unit.factor, unit.name);
    }
  }
  return fmt::format("{}{}", value, units.back().name);
}

template <std::size_t N>
Result<std::uint64_t> parse_with_unit(std::string_view text, const std::array<Unit, N>& units,
                                      std::uint64_t most, std::string_view remedy) {
  const auto wrong = [&](std::string_view why) {
    return invalid_input(fmt::format("{} {}; {}", quotation(text), why, remedy));
  };
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc::invalid_argument) return wrong("does not start with a whole number");
  if (failure != std::errc{}) number = ~std::uint64_t{0};  // too much
  const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (number <= most / unit.factor) return number * unit.factor;
    return wrong(fmt::format("is too much: at most {}", in_largest_unit(most, units)));
  }
  if (name.empty()) return wrong("has no unit");
  return wrong(name[0] == '.' ? "has a fraction" : "has a unit that is not known");
}

Result<void> set_member_attribute(shard::Member& member, std::string_view attribute) {
  const std::size_t equals = std::min(attribute.find('='), attribute.size());
  const std::string_view name = attribute.substr(0, equals);
  const std::string_view value = attribute.substr(std::min(equals + 1, attribute.size()));
  if (name == "weight") {
    auto set = assign<&shard::Member::weight, parse_member_weight>(member, value);
    return set ? std::move(set) : invalid_input("weight: " + set.error().message);
  }
  if (name == "zone") return assign<&shard::Member::zone, parse_member_zone>(member, value);
  return invalid_input(fmt::format(
      "{} is not known; after the address write ;weight=N or ;zone=NAME", quotation(attribute)));
}

Result<shard::MemberAt> parse_member(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return invalid_input(
        fmt::format("{} has no address; write NAME=HOST:PORT, such as "
                    "cache-0=10.0.0.1:8080",
                    quotation(text)));
  }
  shard::MemberAt out;
  out.member.name = text.substr(0, equals);
  if (auto checked = shard::check_member_name(out.member.name); !checked) {
    return invalid_input(
        fmt::format("the name {} {}", quotation(out.member.name), checked.error().message));
  }
  std::string_view rest = text.substr(equals + 1);
  std::size_t semicolon = std::min(rest.find(';'), rest.size());
  auto address = Endpoint::parse(rest.substr(0, semicolon));
  if (!address) {
    return invalid_input(fmt::format("{}: {}", out.member.name, address.error().message));
  }
  out.address = *std::move(address);
  while (semicolon < rest.size()) {
    rest.remove_prefix(semicolon + 1);
    semicolon = std::min(rest.find(';'), rest.size());
    auto set = set_member_attribute(out.member, rest.substr(0, semicolon));
    if (!set) return invalid_input(fmt::format("{}: {}", out.member.name, set.error().message));
  }
  return out;
}

Result<UpstreamAddress> parse_origin_url(std::string_view url) {
  const auto wrong = [&](std::string_view why) {
    return invalid_input(
        fmt::format("{} {}; write http://HOST[:PORT] or https://…", quotation(url), why));
  };
  const auto parts = http::split_absolute(url);
  if (!parts) return wrong("is no URL of an origin");
  if (!parts->rest.empty() && parts->rest != "/") return wrong("has a path or query");
  const auto host = http::split_host(parts->authority);
  if (!host) return wrong("has no valid host and port");
  const bool tls = http::same_token(url.substr(0, url.find(':')), "https");
  constexpr unsigned http_port = 80;
  constexpr unsigned https_port = 443;
  const unsigned usual = tls ? https_port : http_port;
  auto endpoint =
      Endpoint::parse(fmt::format("{}:{}", host->name, host->port == 0 ? usual : host->port));
  if (!endpoint) return endpoint.error();
  return UpstreamAddress(*std::move(endpoint), tls);
}

Result<net::Origin> parse_origin(std::string_view text) {
  const std::size_t semicolon = std::min(text.find(';'), text.size());
  auto address = parse_origin_url(text.substr(0, semicolon));
  if (!address) return address.error();
  net::Origin origin{*std::move(address), 1};
  if (semicolon == text.size()) return origin;
  const std::string_view attribute = text.substr(semicolon + 1);
  constexpr std::string_view weight = "weight=";
  if (!attribute.starts_with(weight)) {
    return invalid_input(
        fmt::format("{} is not known; after the URL write ;weight=N", quotation(attribute)));
  }
  const auto number = parse_number(attribute.substr(weight.size()), 1, limits::origin_weight);
  if (!number) return invalid_input("weight: " + number.error().message);
  origin.weight = static_cast<std::uint32_t>(*number);
  return origin;
}

}  // namespace

Result<Milliseconds> parse_delay(std::string_view text) {
  constexpr auto most = static_cast<std::uint64_t>(limits::configured_wait_most.count());
  const auto value = parse_with_unit(text, time_units, most, time_remedy);
  if (!value) return value.error();
  return Milliseconds(static_cast<Milliseconds::rep>(*value));
}

Result<Milliseconds> parse_duration(std::string_view text) {
  auto duration = parse_delay(text);
  if (duration && duration->count() == 0) {
    return invalid_input(fmt::format("{} must be above zero; {}", quotation(text), time_remedy));
  }
  return duration;
}

std::string duration_text(Milliseconds duration) {
  return in_largest_unit(static_cast<std::uint64_t>(duration.count()), time_units);
}

Result<Seconds> parse_ttl(std::string_view text) {
  constexpr auto most = static_cast<std::uint64_t>(limits::delta_seconds_most.count());
  const auto value = parse_with_unit(text, ttl_units, most,
                                     "write whole seconds with s, m, h or d, such as 10s or 30d");
  if (!value) return value.error();
  return Seconds(static_cast<Seconds::rep>(*value));
}

std::string ttl_text(Seconds ttl) {
  return in_largest_unit(static_cast<std::uint64_t>(ttl.count()), ttl_units);
}

Result<std::size_t> parse_size(std::string_view text) {
  return parse_with_unit(text, size_units, limits::store_memory_most_bytes,
                         "write a number with KiB, MiB or GiB, such as 256MiB, or bytes");
}

std::string size_text(std::size_t bytes) { return in_largest_unit(bytes, size_units); }

Result<StoreMemory> parse_store_memory(std::string_view text) {
  if (text.ends_with('%')) {
    const auto percent =
        parse_number(text.substr(0, text.size() - 1), 1, limits::store_memory_percent_most);
    if (percent) return StoreMemory{0, static_cast<unsigned>(*percent)};
    return invalid_input(
        fmt::format("{} is no share that a store can have; write 1% to {}%, such as 75%: "
                    "connections and buffers need the rest",
                    quotation(text), limits::store_memory_percent_most));
  }
  const auto bytes = parse_size(text);
  if (!bytes) return invalid_input(bytes.error().message + ", or a share such as 75%");
  if (*bytes < limits::store_memory_least_bytes) {
    return invalid_input(fmt::format("{} holds nothing of use; give at least {}", text,
                                     size_text(limits::store_memory_least_bytes)));
  }
  return StoreMemory{*bytes, 0};
}

Result<std::uint64_t> parse_number(std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size() || number < least ||
      number > most) {
    return invalid_input(fmt::format("{} is no whole number from {} to {}; write one",
                                     quotation(text), least, most));
  }
  return number;
}

Result<bool> parse_switch(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return invalid_input(fmt::format("{} is neither; write true or false", quotation(text)));
}

Result<log::Level> parse_level(std::string_view text) {
  for (const auto level :
       {log::Level::debug, log::Level::info, log::Level::warning, log::Level::error}) {
    if (text == level_text(level)) return level;
  }
  return invalid_input(
      fmt::format("{} is no level; write debug, info, warning or error", quotation(text)));
}

std::string_view level_text(log::Level level) noexcept {
  switch (level) {
    case log::Level::debug:
      return "debug";
    case log::Level::info:
      return "info";
    case log::Level::warning:
      return "warning";
    case log::Level::error:
      return "error";
  }
  return "error";
}

Result<std::vector<net::Origin>> parse_origins(std::string_view text) {
  std::vector<net::Origin> origins;
  for (const std::string_view piece : split_list(text)) {
    auto origin = parse_origin(piece);
    if (!origin) return origin.error();
    const bool twice = std::any_of(origins.begin(), origins.end(), [&](const auto& other) {
      return other.address == origin->address;
    });
    if (twice) {
      return invalid_input(
          fmt::format("{} is there twice; name it once, with a weight", quotation(piece)));
    }
    origins.push_back(*std::move(origin));
  }
  if (origins.empty()) return invalid_input("no origin; write http://HOST[:PORT]");
  if (origins.size() > limits::origins_per_route) {
    return invalid_input(
        fmt::format("{} origins; name at most {}", origins.size(), limits::origins_per_route));
  }
  return origins;
}

std::string origin_text(const net::Origin& origin) {
  std::string out =
      fmt::format("{}://{}", origin.address.tls ? "https" : "http", origin.address.endpoint.text());
  if (origin.weight != 1) fmt::format_to(std::back_inserter(out), ";weight={}", origin.weight);
  return out;
}

Result<std::vector<Network>> parse_networks(std::string_view text) {
  std::vector<Network> networks;
  for (const std::string_view piece : split_list(text)) {
    auto network = Network::parse(piece);
    if (!network) return network.error();
    networks.push_back(*network);
  }
  return networks;
}

Result<std::vector<std::string>> parse_host_names(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view piece : split_list(text)) {
    const auto parts = http::split_host(piece.starts_with("*.") ? piece.substr(2) : piece);
    std::string name(piece);
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    std::transform(name.begin(), name.end(), name.begin(), lower);
    const std::size_t prefix_bytes = piece.starts_with("*.") ? 2 : 0;
    if (!parts || parts->name.size() + prefix_bytes != piece.size() || parts->name[0] == '[') {
      return invalid_input(
          fmt::format("{} is no host's name; write one without a port, or *.NAME for all below it",
                      quotation(piece)));
    }
    names.push_back(std::move(name));
  }
  if (names.size() > limits::admin_hosts) {
    return invalid_input(
        fmt::format("{} names; {} are allowed", names.size(), limits::admin_hosts));
  }
  return names;
}

Result<std::string> parse_member_name(std::string_view text) {
  if (auto checked = shard::check_member_name(text); !checked) return checked.error();
  return std::string(text);
}

Result<std::uint32_t> parse_member_weight(std::string_view text) {
  const auto weight = parse_number(text, 0, limits::member_weight);
  if (!weight) return weight.error();
  return static_cast<std::uint32_t>(*weight);
}

Result<std::string> parse_member_zone(std::string_view text) {
  if (auto checked = shard::check_member_zone(text); !checked) return checked.error();
  return std::string(text);
}

Result<std::vector<shard::MemberAt>> parse_members(std::string_view text) {
  std::vector<shard::MemberAt> members;
  for (const std::string_view piece : split_list(text)) {
    auto member = parse_member(piece);
    if (!member) return member.error();
    members.push_back(*std::move(member));
  }
  return members;
}

std::string members_text(const std::vector<shard::MemberAt>& members) {
  std::string out;
  for (const shard::MemberAt& at : members) {
    if (!out.empty()) out.push_back(',');
    fmt::format_to(std::back_inserter(out), "{}={}", at.member.name, at.address.text());
    if (at.member.weight != 1) {
      fmt::format_to(std::back_inserter(out), ";weight={}", at.member.weight);
    }
    if (!at.member.zone.empty()) {
      fmt::format_to(std::back_inserter(out), ";zone={}", at.member.zone);
    }
  }
  return out;
}

Result<std::string> parse_field_name(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return invalid_input(
        fmt::format("{} {}; write another name, such as X-Country", quotation(text), why));
  };
  if (!http::is_token(text)) return wrong("is no name of a header");
  // Setting one of these would change what the message means or who it is for.
  constexpr std::array<std::string_view, 14> taken{"host",
                                                   "content-length",
                                                   "content-type",
                                                   "content-encoding",
                                                   "authorization",
                                                   "cookie",
                                                   "cache-control",
                                                   "accept",
                                                   "accept-encoding",
                                                   "range",
                                                   "via",
                                                   "x-forwarded-for",
                                                   "forwarded",
                                                   "date"};
  const bool ours = http::is_internal(text) || http::is_hop_by_hop(text) ||
                    std::any_of(taken.begin(), taken.end(), [&](std::string_view name) {
                      return http::same_token(name, text);
                    });
  if (ours) return wrong("has a meaning of its own in HTTP or between Ringside's processes");
  return std::string(text);
}

Result<std::string> parse_client_address_from(std::string_view text) {
  std::string name(text);
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (name != "forwarded" && name != http::x_forwarded_for && !parse_field_name(name)) {
    return invalid_input(fmt::format(
        "{} tells no client's address; write x-forwarded-for, forwarded, or the name of the field "
        "that your proxies put it in, such as x-real-ip",
        quotation(text)));
  }
  return name;
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    pieces.push_back(http::trimmed(text.substr(0, comma)));
    // A comma at the end begins one more piece, an empty one, which no parser takes.
    if (comma + 1 == text.size()) pieces.emplace_back();
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return pieces;
}

}  // namespace ringside::program
