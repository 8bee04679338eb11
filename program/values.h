#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/address.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "net/origin.h"
#include "program/machine.h"
#include "shard/topology_json.h"

// How values are written in flags and configuration files. An Error says what is wrong with the
// text and what to write instead; the caller puts the place before it.
namespace ringside::program {

// `250ms`, `10s`, `1m`, `2h`; at least 1 ms, at most limits::configured_wait_most.
[[nodiscard]] Result<Milliseconds> parse_duration(std::string_view text);
// The same, and `0ms` for none.
[[nodiscard]] Result<Milliseconds> parse_delay(std::string_view text);
[[nodiscard]] std::string duration_text(Milliseconds duration);
// A time for which something is kept: `0s`, `10s`, `1m`, `2h`, `30d`; whole seconds, at most
// limits::delta_seconds_most.
[[nodiscard]] Result<Seconds> parse_ttl(std::string_view text);
[[nodiscard]] std::string ttl_text(Seconds ttl);

// `512KiB`, `256MiB`, `1GiB`, or bytes without a unit.
[[nodiscard]] Result<std::size_t> parse_size(std::string_view text);
[[nodiscard]] std::string size_text(std::size_t bytes);

// A size, at least limits::store_memory_least_bytes, or a share: from `1%` up to
// limits::store_memory_percent_most.
[[nodiscard]] Result<StoreMemory> parse_store_memory(std::string_view text);

// A whole number in decimal digits.
[[nodiscard]] Result<std::uint64_t> parse_number(std::string_view text, std::uint64_t least,
                                                 std::uint64_t most);

[[nodiscard]] Result<bool> parse_switch(std::string_view text);  // true or false
[[nodiscard]] Result<log::Level> parse_level(std::string_view text);
[[nodiscard]] std::string_view level_text(log::Level level) noexcept;

// Origins: `URL[;weight=N],…`, each URL `http://host[:port][/]` or `https://…`, port 80 or 443
// where there is none.
[[nodiscard]] Result<std::vector<net::Origin>> parse_origins(std::string_view text);
[[nodiscard]] std::string origin_text(const net::Origin& origin);

// `NET,…`, each an address or a CIDR block.
[[nodiscard]] Result<std::vector<Network>> parse_networks(std::string_view text);

// `NAME,…`, each a host's name or `*.NAME` for all below it; in lower case.
[[nodiscard]] Result<std::vector<std::string>> parse_host_names(std::string_view text);

// Of a replica or a route.
[[nodiscard]] Result<std::string> parse_member_name(std::string_view text);
[[nodiscard]] Result<std::uint32_t> parse_member_weight(std::string_view text);
[[nodiscard]] Result<std::string> parse_member_zone(std::string_view text);

// `cache-0=10.0.0.1:8080[;weight=2][;zone=a],…`
[[nodiscard]] Result<std::vector<shard::MemberAt>> parse_members(std::string_view text);
[[nodiscard]] std::string members_text(const std::vector<shard::MemberAt>& members);

// A field name that we may set on requests: a token, and none that the message itself needs.
[[nodiscard]] Result<std::string> parse_field_name(std::string_view text);
// The field that tells the client's address; in lower case.
[[nodiscard]] Result<std::string> parse_client_address_from(std::string_view text);

// Puts what `parse` makes of the text into a member.
template <auto member, auto parse, class Of>
Result<void> assign(Of& of, std::string_view text) {
  auto value = parse(text);
  if (!value) return value.error();
  of.*member = *std::move(value);
  return {};
}

// The pieces of a comma-separated list without blanks around them.
[[nodiscard]] std::vector<std::string_view> split_list(std::string_view text);

}  // namespace ringside::program
