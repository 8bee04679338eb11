#include "http/route_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
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
auto rank(std::string_view host) {
  const int kind = host.empty() ? 2 : is_wildcard(host) ? 1 : 0;
  const bool any_port = port_colon(host) == std::string_view::npos;
  const auto host_length = static_cast<std::ptrdiff_t>(without_port(host).size());
  // The host itself keeps the routes of one host together.
  return std::tuple(kind, -host_length, any_port, host);
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
  table.matches_ = matches;
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
  table.sort();
  if (auto checked = table.check_twins(); !checked) return checked.error();
  table.set_conditional_apart();
  return table;
}

void RouteTable::add(const RouteMatch& match, std::size_t index) {
  const bool has_regex = match.path_regex.has_value();
  const auto comparison =
      has_placeholders(match.path_prefix) ? Comparison::segments : Comparison::text;
  rows_.push_back({match.host, match.path_prefix, index, comparison, has_regex,
                   specificity(match.path_prefix)});
  for (std::string& cut : cut_patterns(match.path_prefix)) {
    std::string order = specificity(cut);
    rows_.push_back(
        {match.host, std::move(cut), index, Comparison::cut, has_regex, std::move(order)});
  }
}

void RouteTable::sort() {
  const auto order_of = [this](const Row& row) {
    const RouteMatch& match = matches_[row.index];
    return std::tuple(rank(row.host), std::string_view(row.specificity),
                      row.comparison == Comparison::cut, shape_of(row.path_prefix),
                      !match.path_regex && match.conditions.empty(), row.index);
  };
  std::sort(rows_.begin(), rows_.end(),
            [&](const Row& a, const Row& b) { return order_of(a) < order_of(b); });
}

// Those of one host and path stand together, but not always side by side.
Result<void> RouteTable::check_twins() const {
  const auto is_of_same_paths = [](const Row& a, const Row& b) {
    return a.host == b.host && a.specificity == b.specificity &&
           (a.comparison == Comparison::cut) == (b.comparison == Comparison::cut) &&
           shape_of(a.path_prefix) == shape_of(b.path_prefix);
  };
  for (auto first = rows_.begin(); first != rows_.end(); ++first) {
    if (first->comparison == Comparison::cut) continue;
    const RouteMatch& match = matches_[first->index];
    for (auto next = std::next(first); next != rows_.end() && is_of_same_paths(*first, *next);
         ++next) {
      const RouteMatch& other = matches_[next->index];
      if (match.path_regex != other.path_regex || match.conditions != other.conditions) continue;
      return invalid_input(
          fmt::format("routes {} and {} are for the same requests ({}); take one out",
                      std::min(first->index, next->index) + 1,
                      std::max(first->index, next->index) + 1, text(match)));
    }
  }
  return {};
}

void RouteTable::set_conditional_apart() {
  for (std::size_t place = 0; place < rows_.size(); ++place) rows_[place].place = place;
  const auto behind = std::stable_partition(rows_.begin(), rows_.end(), [this](const Row& row) {
    return matches_[row.index].conditions.empty();
  });
  conditional_.assign(std::make_move_iterator(behind), std::make_move_iterator(rows_.end()));
  rows_.erase(behind, rows_.end());
}

bool RouteTable::path_matches(const Row& row, std::string_view path) const {
  if (!prefix_matches(row, path)) return false;
  return !row.has_regex || matches_[row.index].path_regex->matches(path);
}

bool RouteTable::prefix_matches(const Row& row, std::string_view path) noexcept {
  const std::string_view prefix = row.path_prefix;
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

const RouteTable::Row* RouteTable::first_of(const std::vector<Row>& rows, std::string_view host,
                                            std::string_view path) const {
  const std::string_view bare = without_port(host);
  for (const Row& row : rows) {
    if (host_matches(row.host, host, bare) && path_matches(row, path)) return &row;
  }
  return nullptr;
}

std::optional<UriRoute> RouteTable::find(std::string_view host, std::string_view path) const {
  if (const Row* const row = first_of(rows_, host, path)) return UriRoute{row->index, row->place};
  const Row* const conditional = first_of(conditional_, host, path);
  if (conditional == nullptr) return std::nullopt;
  return UriRoute{conditional->index, rows_.size() + conditional_.size()};
}

std::optional<std::size_t> RouteTable::choose(const UriRoute& of_uri, std::string_view host,
                                              const Target& target, std::string_view method,
                                              const Fields& fields) const {
  if (conditional_.empty()) return of_uri.index;
  const std::string_view bare = without_port(host);
  const std::string merged =
      has_double_slash(target.path) ? with_merged_slashes(target.path) : std::string();
  const std::string_view path = merged.empty() ? target.path : merged;
  for (const Row& row : conditional_) {
    if (row.place > of_uri.place) break;
    if (host_matches(row.host, host, bare) && path_matches(row, path) &&
        hold(matches_[row.index].conditions, method, fields, target.query)) {
      return row.index;
    }
  }
  const bool has_conditions = of_uri.place == rows_.size() + conditional_.size();
  return has_conditions ? std::nullopt : std::optional(of_uri.index);
}

Result<void> RouteTable::check_readings(std::string_view host, std::string_view path,
                                        std::size_t route) const {
  const bool is_escaped = has_escaped_slash(path);
  const bool has_more = has_parameters(path);
  if (!is_escaped && !has_more) return {};
  const auto index_of = [&](std::string_view reading) -> std::optional<std::size_t> {
    const auto found = find(host, reading);
    return found ? std::optional(found->index) : std::nullopt;
  };
  const std::array<std::optional<std::size_t>, 3> readings = {
      route, index_of(as_read_plainly(path, Parameters::kept)),
      index_of(as_read_plainly(path, Parameters::cut))};
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

Result<std::optional<UriRoute>> RouteTable::find_canonical(std::string_view host,
                                                           Target& target) const {
  const bool has_runs = has_double_slash(target.path);
  std::string merged = has_runs ? with_merged_slashes(target.path) : std::string();
  const std::string_view path = has_runs ? merged : target.path;
  const auto route = find(host, path);
  if (!route) return route;
  if (auto checked = check_readings(host, path, route->index); !checked) return checked.error();
  if (has_runs && paths_[route->index].merge_slashes.value_or(false)) {
    target.path = std::move(merged);
  }
  return route;
}

}  // namespace ringside::http
