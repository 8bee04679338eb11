#include "http/route_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "http/path_pattern.h"

namespace ringside::http {
namespace {

constexpr std::string_view wildcard = "*.";

bool is_wildcard(std::string_view host) noexcept { return host.starts_with(wildcard); }

// Where the port's colon is; npos without a port. In `[::1]` no colon is.
std::size_t port_colon(std::string_view host) noexcept {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  if (colon == std::string_view::npos) return colon;
  return bracket != std::string_view::npos && bracket > colon ? std::string_view::npos : colon;
}

std::string_view without_port(std::string_view host) noexcept {
  return host.substr(0, port_colon(host));
}

bool host_matches(std::string_view pattern, std::string_view host,
                  std::string_view host_without_port) noexcept {
  if (pattern.empty()) return true;
  const bool any_port = port_colon(pattern) == std::string_view::npos;
  const std::string_view asked = any_port ? host_without_port : host;
  if (!is_wildcard(pattern)) return asked == pattern;
  const std::string_view suffix = pattern.substr(1);  // with its dot, so that a label comes before
  return asked.size() > suffix.size() && asked.ends_with(suffix);
}

// Smaller is more specific.
auto rank(const RouteMatch& match) {
  const int kind = match.host.empty() ? 2 : is_wildcard(match.host) ? 1 : 0;
  const bool any_port = port_colon(match.host) == std::string::npos;
  const auto host_length = static_cast<std::ptrdiff_t>(without_port(match.host).size());
  // The host itself keeps the routes of one host together.
  return std::tuple(kind, -host_length, any_port, std::string_view(match.host));
}

Error refused_path(std::string why) {
  return {ErrorKind::malformed, ErrorSource::client, Retry::no, std::move(why)};
}

std::string text(const RouteMatch& match) {
  return fmt::format("host {}, path {}", match.host.empty() ? "any" : match.host,
                     match.path_prefix);
}

}  // namespace

Result<RouteTable> RouteTable::make(const std::vector<RouteMatch>& matches,
                                    std::vector<PathRules> paths) {
  RouteTable table;
  table.paths_ = std::move(paths);
  table.paths_.resize(matches.size());
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const RouteMatch& match = matches[i];
    if (!match.path_prefix.starts_with('/')) {
      return invalid_input(fmt::format("route {} ({}): no path starts like that; start it with /",
                                       i + 1, text(match)));
    }
    if (match.host == wildcard ||
        (match.host.find('*') != std::string::npos && match.host.rfind('*') != 0) ||
        match.host == "*") {
      return invalid_input(
          fmt::format("route {} ({}): no host looks like that; write HOST, *.HOST "
                      "or nothing for any",
                      i + 1, text(match)));
    }
    table.add(match, i);
  }
  if (auto sorted = table.sort(); !sorted) return sorted.error();
  return table;
}

void RouteTable::add(const RouteMatch& match, std::size_t index) {
  const bool is_pattern = has_placeholders(match.path_prefix);
  rows_.push_back({match, index, is_pattern ? Comparison::segments : Comparison::text,
                   specificity(match.path_prefix)});
  for (std::string& cut : cut_patterns(match.path_prefix)) {
    std::string order = specificity(cut);
    rows_.push_back({{match.host, std::move(cut)}, index, Comparison::cut, std::move(order)});
  }
}

Result<void> RouteTable::sort() {
  const auto order_of = [](const Row& row) {
    return std::tuple(rank(row.match), std::string_view(row.specificity),
                      row.comparison == Comparison::cut, shape_of(row.match.path_prefix),
                      row.index);
  };
  std::sort(rows_.begin(), rows_.end(),
            [&](const Row& a, const Row& b) { return order_of(a) < order_of(b); });
  const auto twin = std::adjacent_find(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    return a.comparison != Comparison::cut && b.comparison != Comparison::cut &&
           a.match.host == b.match.host &&
           shape_of(a.match.path_prefix) == shape_of(b.match.path_prefix);
  });
  if (twin == rows_.end()) return {};
  return invalid_input(fmt::format("routes {} and {} are for the same requests ({}); take one out",
                                   twin->index + 1, std::next(twin)->index + 1, text(twin->match)));
}

bool RouteTable::path_matches(const Row& row, std::string_view path) noexcept {
  const std::string_view prefix = row.match.path_prefix;
  switch (row.comparison) {
    case Comparison::text:
      if (prefix == "/") return true;  // the `*` of OPTIONS too
      if (!path.starts_with(prefix)) return false;
      return prefix.back() == '/' || path.size() == prefix.size() || path[prefix.size()] == '/';
    case Comparison::segments:
      return pattern_matches(prefix, path);
    case Comparison::cut: {
      const auto rest = behind_pattern(prefix, path);
      return rest && (rest->empty() || *rest == "/");
    }
  }
  return false;
}

std::optional<std::size_t> RouteTable::find(std::string_view host,
                                            std::string_view path) const noexcept {
  const std::string_view bare = without_port(host);
  for (const Row& row : rows_) {
    if (host_matches(row.match.host, host, bare) && path_matches(row, path)) {
      return row.index;
    }
  }
  return std::nullopt;
}

Result<void> RouteTable::check_readings(std::string_view host, std::string_view path,
                                        std::size_t route) const {
  const bool is_escaped = has_escaped_slash(path);
  const bool has_more = has_parameters(path);
  if (!is_escaped && !has_more) return {};
  const std::array<std::optional<std::size_t>, 3> readings = {
      route, find(host, as_read_plainly(path, Parameters::kept)),
      find(host, as_read_plainly(path, Parameters::cut))};
  // Where a reading is not served at all, the route itself decides: an origin that has more than
  // what is served would show it.
  const auto any_refuses = [&](std::optional<bool> PathRules::*rule) {
    return std::any_of(readings.begin(), readings.end(), [&](std::optional<std::size_t> reading) {
      return (paths_[reading.value_or(route)].*rule).value_or(false);
    });
  };
  if (is_escaped && any_refuses(&PathRules::refuses_escaped_slashes)) {
    return refused_path(
        "the path has an escaped slash or a backslash (%2F, %5C), which could get it past the "
        "rules of a route; write it with /, or say escaped_slashes: keep of the routes that it "
        "may mean");
  }
  if (has_more && any_refuses(&PathRules::refuses_parameters)) {
    return refused_path(
        "the path has parameters (a semicolon), which could get it past the rules of a route; "
        "leave them out, or say path_parameters: keep of the routes that it may mean");
  }
  return {};
}

Result<std::optional<std::size_t>> RouteTable::find_canonical(std::string_view host,
                                                              Target& target) const {
  if (!has_double_slash(target.path)) {
    const auto route = find(host, target.path);
    if (!route) return route;
    if (auto checked = check_readings(host, target.path, *route); !checked) return checked.error();
    return route;
  }
  std::string merged = with_merged_slashes(target.path);
  const auto route = find(host, merged);
  if (!route) return route;
  if (auto checked = check_readings(host, merged, *route); !checked) return checked.error();
  if (paths_[*route].merge_slashes.value_or(false)) target.path = std::move(merged);
  return route;
}

}  // namespace ringside::http
