#include "program/simulate_keys.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>
#include <system_error>

#include "base/simulate_limits.h"
#include "program/countries.h"
#include "program/settings.h"
#include "program/shard_report.h"
#include "shard/quotation.h"
#include "simulate/grouped.h"
#include "tier/membership.h"

namespace ringside::program {
namespace {

Result<double> parse_weight(std::string_view text) {
  double weight = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), weight);
  if (failure != std::errc{} || end != text.data() + text.size() || !std::isfinite(weight) ||
      weight < 0) {
    return invalid_input(fmt::format("{} is no weight; write KEY, a tab and a number from 0 up",
                                     shard::quotation(text)));
  }
  return weight;
}

Result<void> add_line(std::string_view line, simulate::KeySet& keys) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return {};
  if (line.size() > limits::simulate_line_size_bytes) {
    return invalid_input(
        fmt::format("the line is longer than {} bytes", limits::simulate_line_size_bytes));
  }
  const std::size_t tab = line.rfind('\t');
  Result<double> weight = 1.0;
  if (tab != std::string_view::npos) weight = parse_weight(line.substr(tab + 1));
  if (!weight) return weight.error();
  keys.add(line.substr(0, tab), *weight);
  if (keys.size() > limits::simulate_keys) {
    return invalid_input(fmt::format("more than {} keys", limits::simulate_keys));
  }
  return {};
}

Result<SimulatedKeys> keys_of_file(const std::string& path) {
  const bool is_stdin = path == "-";
  std::ifstream file;
  if (!is_stdin) file.open(path, std::ios::binary);
  if (!is_stdin && !file) {
    return invalid_input(fmt::format("--keys-from: {}: {}; give a file with a key a line", path,
                                     std::generic_category().message(errno)));
  }
  const std::string name = is_stdin ? "stdin" : path;
  auto keys = read_keys(is_stdin ? std::cin : file, name);
  if (!keys) return invalid_input("--keys-from: " + keys.error().message);
  const std::string title = fmt::format("{} keys of {}", simulate::grouped(keys->size()), name);
  return SimulatedKeys{*std::move(keys), title};
}

Result<SimulatedKeys> keys_of_log_file(const SimulateOptions& options) {
  const auto configuration = load(options.invocation);
  if (!configuration) return configuration.error();
  auto countries = open_countries_at_start(*configuration);
  if (!countries) return countries.error();
  const auto nobody = tier::make_membership({}, configuration->scheme, 1);
  if (!nobody) return nobody.error();
  const auto settings = make_sidecar_settings(*configuration, *nobody, *std::move(countries));
  if (!settings) return settings.error();
  const auto log = replay::read_access_log(options.log, 0);
  if (!log) return invalid_input("--log: " + log.error().message);
  auto keys = keys_of_log(*log, **settings, options.host);
  if (keys.size() == 0) {
    return invalid_input(fmt::format(
        "--log: {}: no GET or HEAD request has a route; give --host, or routes that match",
        options.log));
  }
  const std::string title =
      fmt::format("{} keys of {} requests in {}", simulate::grouped(keys.size()),
                  simulate::grouped(log->requests.size()), options.log);
  return SimulatedKeys{std::move(keys), title};
}

}  // namespace

Result<simulate::KeySet> read_keys(std::istream& in, const std::string& name) {
  simulate::KeySet keys;
  std::string line;
  double together = 0;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (auto added = add_line(line, keys); !added) {
      return invalid_input(fmt::format("{}:{}: {}", name, number, added.error().message));
    }
  }
  if (in.bad()) return invalid_input(fmt::format("{}: cannot be read; give a file", name));
  for (std::size_t i = 0; i < keys.size(); ++i) together += keys.weight(i);
  if (together == 0) {
    return invalid_input(fmt::format("{}: no key with a weight; write a key a line", name));
  }
  constexpr double percent = 100;  // shares are told in
  if (!std::isfinite(percent * together)) {
    return invalid_input(
        fmt::format("{}: the weights together are too large for a number; divide them all", name));
  }
  return keys;
}

simulate::KeySet keys_of_log(const replay::AccessLog& log, const sidecar::Settings& settings,
                             const std::string& host) {
  simulate::KeySet keys;
  const ShardOptions plain;
  for (const replay::LogRequest& request : log.requests) {
    if (request.method != "GET" && request.method != "HEAD") continue;
    const bool is_path = request.target.starts_with('/');
    const std::string url = is_path && !host.empty()
                                ? fmt::format("http://{}{}", host, request.target)
                                : request.target;
    const auto answer = find_shard(settings, plain, request.client, url);
    if (answer && !answer->route.empty()) keys.add(answer->key, 1);
  }
  return keys;
}

Result<SimulatedKeys> simulated_keys(const SimulateOptions& options) {
  if (!options.log.empty()) return keys_of_log_file(options);
  if (!options.keys_file.empty()) return keys_of_file(options.keys_file);
  const std::string popularity =
      options.zipf_exponent == 0
          ? "all asked for alike"
          : fmt::format("asked for in proportion to 1/rank^{}", options.zipf_exponent);
  return SimulatedKeys{
      simulate::KeySet::generated(options.generated_keys, options.zipf_exponent),
      fmt::format("{} generated keys, {}", simulate::grouped(options.generated_keys), popularity)};
}

}  // namespace ringside::program
