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
#include "program/key_text.h"
#include "program/request_url.h"
#include "program/settings.h"
#include "shard/quotation.h"
#include "shard/schemes.h"
#include "sidecar/shard_decision.h"

namespace ringside::program {
namespace {

constexpr std::size_t owners_told = limits::owners_tried;

// So that a line stays one.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c >= '\x7f'; }, '?');
  return text;
}

std::array<std::string, 8> row_of(const ShardAnswer& answer) {
  const bool owned = !answer.owners.empty();
  const auto next = owned ? std::vector<std::string>(answer.owners.begin() + 1, answer.owners.end())
                          : std::vector<std::string>();
  return {
      printable(answer.url),
      answer.route.empty() ? "(none)" : answer.route + (answer.is_fallback ? " (fallback)" : ""),
      answer.country,
      key_text(answer.key),
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

// How many lines of stdin could not be answered; each is told on stderr.
std::size_t find_lines(const sidecar::Settings& settings, const ShardOptions& options,
                       std::vector<ShardAnswer>& answers) {
  std::size_t bad = 0;
  std::string line;
  for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
    if (http::trimmed(line).empty()) continue;
    auto answer = find_line(settings, options, http::trimmed(line));
    if (answer) {
      answers.push_back(*std::move(answer));
    } else {
      ++bad;
      fmt::print(stderr, "ringside shard: stdin:{}: {}\n", number, answer.error().message);
    }
  }
  return bad;
}

// Which replicas are reckoned with, where nobody has said it.
void tell_assumption(const Configuration& configuration, const tier::Membership& membership) {
  const auto& writer = configuration.state_writer;
  const auto schemes = shard::parse_schemes(membership.topology->scheme());
  if (writer && (writer->at || writer->config_map) && schemes && schemes->may_have_state()) {
    fmt::print(stderr,
               "ringside shard: these are the owners by --state, or by the first state of the "
               "scheme; the one in use is that of GET /topology at a process of the tier\n");
  }
  if (!configuration.replicas.empty() || configuration.replica_count) return;
  fmt::print(stderr,
             "ringside shard: without --replicas these are the owners among {} replicas, cache-0 "
             "to cache-{}; for your own tier give its number of replicas, or NAME=HOST:PORT,…\n",
             membership.size(), membership.size() - 1);
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
  const tier::Membership& membership = *settings.membership;
  const shard::Topology& topology = *membership.topology;
  std::string whole;
  sidecar::make_shard_key(whole, topology, found, **keyed_by,
                          {asked->host, asked->target, fields, client, country});
  const shard::ShardKey key{whole, hash64(whole)};
  answer.key = topology.own_key(whole);
  answer.hash = hash64(answer.key);
  answer.bucket = topology.bucket_for(key);
  if (membership.size() == 0) return answer;
  std::vector<shard::MemberIndex> owners;
  topology.owners(key, owners_told, owners);
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
    one["key"] = key_text(answer.key);
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
    return tier::make_membership(configuration.replicas, tier_schemes(configuration), 1,
                                 configuration.state);
  }
  std::vector<shard::MemberAt> members;
  for (std::size_t i = 0; i < configuration.replica_count.value_or(replicas_by_default); ++i) {
    // Never contacted; each needs its own.
    members.push_back(
        {{fmt::format("cache-{}", i), 1, ""}, {"127.0.0.1", static_cast<std::uint16_t>(i + 1)}});
  }
  return tier::make_membership(members, tier_schemes(configuration), 1, configuration.state);
}

Result<void> run_shard(const Configuration& configuration, const ShardOptions& options) {
  auto countries = open_countries_at_start(configuration);
  if (!countries) return countries.error();
  const auto membership = shard_membership(configuration);
  if (!membership) return membership.error();
  const auto settings = make_sidecar_settings(configuration, *membership, *std::move(countries));
  if (!settings) return settings.error();
  tell_assumption(configuration, **membership);
  std::vector<ShardAnswer> answers;
  std::size_t bad = 0;
  for (const std::string& url : options.urls) {
    if (url == "-") {
      bad += find_lines(**settings, options, answers);
      continue;
    }
    auto answer = find_shard(**settings, options, options.client, url);
    if (!answer) return answer.error();
    answers.push_back(*std::move(answer));
  }
  std::cout << (options.json ? to_json(answers) : to_table(answers)) << std::flush;
  if (bad == 0) return {};
  return Error{ErrorKind::malformed, ErrorSource::client, Retry::no,
               fmt::format("lines of stdin that could not be answered: {}", bad)};
}

}  // namespace ringside::program
