#include "program/shard_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/limits.h"
#include "http/characters.h"
#include "http/fields.h"
#include "program/request_url.h"
#include "program/settings.h"
#include "shard/quotation.h"
#include "sidecar/shard_decision.h"

namespace ringside::program {
namespace {

constexpr std::size_t owners_told = limits::owners_tried;

// A key for people: line ends and what is not printable as C escapes.
std::string escaped(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\') {
      out += "\\\\";
    } else if (byte < 0x20 || byte >= 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::array<std::string, 8> row_of(const ShardAnswer& answer) {
  const bool owned = !answer.owners.empty();
  const auto next = owned ? std::vector<std::string>(answer.owners.begin() + 1, answer.owners.end())
                          : std::vector<std::string>();
  return {
      escaped(answer.url),
      answer.route.empty() ? "(none)" : answer.route + (answer.is_fallback ? " (fallback)" : ""),
      answer.country,
      escaped(answer.key),
      fmt::format("{:016x}", answer.hash),
      std::to_string(answer.bucket),
      owned ? answer.owners.front() : "(none)",
      fmt::format("{}", fmt::join(next, " "))};
}

// One line of stdin: `URL` or `IP URL`.
Result<ShardAnswer> find_line(const sidecar::Settings& settings, const ShardOptions& options,
                              std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return find_shard(settings, options, options.client, line);
  const auto client = IpAddress::parse(line.substr(0, blank));
  if (!client) return client.error();
  return find_shard(settings, options, *client, http::trimmed(line.substr(blank)));
}

Result<std::vector<ShardAnswer>> find_all(const sidecar::Settings& settings,
                                          const ShardOptions& options) {
  std::vector<ShardAnswer> answers;
  const auto add = [&](Result<ShardAnswer> answer) -> Result<void> {
    if (!answer) return answer.error();
    answers.push_back(*std::move(answer));
    return {};
  };
  for (const std::string& url : options.urls) {
    if (url != "-") {
      if (auto added = add(find_shard(settings, options, options.client, url)); !added) {
        return added.error();
      }
      continue;
    }
    std::string line;
    for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
      if (http::trimmed(line).empty()) continue;
      if (auto added = add(find_line(settings, options, http::trimmed(line))); !added) {
        return invalid_input(fmt::format("stdin:{}: {}", number, added.error().message));
      }
    }
  }
  return answers;
}

}  // namespace

Result<ShardAnswer> find_shard(const sidecar::Settings& settings, const ShardOptions& options,
                               const IpAddress& client, std::string_view url) {
  auto asked = parse_request_url(url);
  if (!asked) return asked.error();
  http::Fields fields;
  for (const auto& [name, value] : options.headers) fields.add(name, value);
  const geo::Country country =
      settings.countries ? settings.countries->find(client).country : geo::Country{};

  ShardAnswer answer;
  answer.url = url;
  answer.country = country.code();
  const auto of_uri = settings.route_table.find_canonical(asked->host, asked->target);
  if (!of_uri) return of_uri.error();
  if (!*of_uri) return answer;
  settings.routes[(*of_uri)->index].query.apply_to(asked->target);
  const auto route =
      settings.route_table.choose(**of_uri, asked->host, asked->target, "GET", fields);
  if (!route) return answer;
  const sidecar::Route& found = settings.routes[*route];
  answer.route = found.name;
  const auto keyed_by = sidecar::key_for(found, asked->target);
  if (!keyed_by) return invalid_input(keyed_by.error().message);
  answer.keyed_by = (*keyed_by)->text();
  answer.is_fallback = *keyed_by != &found.key;
  sidecar::build_shard_key(answer.key, **keyed_by,
                           {asked->host, asked->target, fields, client, country});
  answer.hash = hash64(answer.key);
  const tier::Membership& membership = *settings.membership;
  answer.bucket = membership.topology->bucket_for({answer.key, answer.hash});
  if (membership.size() == 0) return answer;
  std::vector<shard::MemberIndex> owners;
  membership.topology->owners({answer.key, answer.hash}, owners_told, owners);
  for (const shard::MemberIndex owner : owners) {
    answer.owners.push_back(membership.name(owner));
  }
  return answer;
}

Result<std::pair<std::string, std::string>> parse_header(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  if (colon == text.size() || !http::is_token(name)) {
    return invalid_input(
        fmt::format("--header: {} is no header; write 'Name: value'", shard::quotation(text)));
  }
  return std::pair(std::string(name), std::string(http::trimmed(text.substr(colon + 1))));
}

std::string to_table(const std::vector<ShardAnswer>& answers) {
  constexpr std::size_t columns = 8;
  std::vector<std::array<std::string, columns>> rows{
      {"URL", "ROUTE", "COUNTRY", "KEY", "HASH", "BUCKET", "OWNER", "THEN"}};
  for (const ShardAnswer& answer : answers) rows.push_back(row_of(answer));
  std::array<std::size_t, columns> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < columns; ++i) {
      fmt::format_to(std::back_inserter(line), "{:<{}}  ", row[i], widths[i]);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string to_json(const std::vector<ShardAnswer>& answers) {
  auto page = nlohmann::ordered_json::array();
  for (const ShardAnswer& answer : answers) {
    nlohmann::ordered_json one;
    one["url"] = answer.url;
    one["route"] = answer.route;
    one["shard_key"] = answer.keyed_by;
    one["is_fallback"] = answer.is_fallback;
    one["country"] = answer.country;
    one["key"] = escaped(answer.key);
    one["hash"] = fmt::format("{:016x}", answer.hash);  // 64 bits are more than JSON's readers keep
    one["bucket"] = answer.bucket;
    one["owners"] = answer.owners;
    page.push_back(std::move(one));
  }
  using ErrorHandler = nlohmann::ordered_json::error_handler_t;
  return page.dump(2, ' ', false, ErrorHandler::replace) + "\n";
}

Result<MembershipPointer> shard_membership(const Configuration& configuration) {
  if (!configuration.replicas.empty()) {
    return tier::make_membership(configuration.replicas, configuration.scheme, 1,
                                 configuration.state);
  }
  std::vector<shard::MemberAt> members;
  for (std::size_t i = 0; i < configuration.replica_count.value_or(replicas_by_default); ++i) {
    // Never contacted; each needs its own.
    members.push_back(
        {{fmt::format("cache-{}", i), 1, ""}, {"127.0.0.1", static_cast<std::uint16_t>(i + 1)}});
  }
  return tier::make_membership(members, configuration.scheme, 1, configuration.state);
}

Result<void> run_shard(const Configuration& configuration, const ShardOptions& options) {
  auto countries = open_countries_at_start(configuration);
  if (!countries) return countries.error();
  const auto membership = shard_membership(configuration);
  if (!membership) return membership.error();
  const auto settings = make_sidecar_settings(configuration, *membership, *std::move(countries));
  if (!settings) return settings.error();
  const auto answers = find_all(**settings, options);
  if (!answers) return answers.error();
  if (configuration.replicas.empty() && !configuration.replica_count) {
    fmt::print(stderr,
               "ringside shard: without --replicas these are the owners among {} replicas, cache-0 "
               "to cache-{}; give the tier's\n",
               replicas_by_default, replicas_by_default - 1);
  }
  std::cout << (options.json ? to_json(*answers) : to_table(*answers)) << std::flush;
  return {};
}

}  // namespace ringside::program
