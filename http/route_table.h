#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/fields.h"
#include "http/path_rules.h"
#include "http/regex.h"
#include "http/request_conditions.h"
#include "http/target.h"

namespace ringside::http {

// Which requests a route is for.
struct RouteMatch {
  // Normalised; empty: any host; "*.example.com": its subdomains of any depth. Without a port it
  // matches whatever port the client asked for, with one only that.
  std::string host;
  // Normalised (path_pattern.h); matches whole segments: /a matches /a and /a/b but not /ab; /a/
  // not /a. "/": all. /a/{x} matches /a/7 and /a/7/b, and where no route is for /a itself, that
  // too.
  std::string path_prefix = "/";
  std::optional<Regex> path_regex = std::nullopt;  // all of the path matches it, too
  RequestConditions conditions = {};
  bool operator==(const RouteMatch&) const = default;
};

// The name of a route, where it is part of what is stored: where headers choose it, of which the
// other parts of a key know nothing. Else empty. Both hops say it (internal::route).
[[nodiscard]] inline std::string_view name_in_key(const RouteMatch& match, std::string_view name) {
  return match.conditions.headers.empty() ? std::string_view{} : name;
}

// The route of a URI, in whose form it is matched, keyed and sent on: of those without
// RequestConditions, or else the first that has some.
struct UriRoute {
  std::size_t index = 0;  // of the route
  std::size_t place = 0;  // in the order of precedence; see RouteTable::choose
};

// Finds a request's route: the exact host before wildcards (the longest first) before any host; of
// equal hosts the longest path prefix, where a name is nearer than a placeholder (specificity); of
// equal hosts and paths the one without a regular expression or conditions is last, and the others
// stand in the order in which they were given. Where no path of the nearest host matches, the next
// host is tried. Immutable, thread-safe.
//
// What a URI looks like is decided by its host and path alone (find_canonical), before anything
// else of the request is looked at (choose): so all requests for a URI, whatever their routes, mean
// the same stored responses by it (docs/decisions/route-matching.md).
class RouteTable {
 public:
  // Refuses two equal matches; the Error names both. Refuses matches that no request can have.
  // `paths`: of each route; without them, those that change nothing.
  [[nodiscard]] static Result<RouteTable> make(const std::vector<RouteMatch>& matches,
                                               std::vector<PathRules> paths = {});
  // For a normalised host and path, without runs of slashes.
  [[nodiscard]] std::optional<UriRoute> find(std::string_view host, std::string_view path) const;

  // The route of a URI, and its path in the one form in which it is matched, keyed and sent to the
  // origin, as the route's rules have it. Matched is the path with its slashes merged, whatever
  // is sent on, so that `//account` is under the rules of `/account`. A path that some origins read
  // as another one is refused (400) where the route of either reading says so: neither
  // `/static/..%2Faccount` nor `/%2Faccount` gets past the rules of `/account`. Without a route
  // nothing is changed or refused.
  [[nodiscard]] Result<std::optional<UriRoute>> find_canonical(std::string_view host,
                                                               Target& target) const;

  // The position in `matches` of the route of a request for such a URI, whose query has been made
  // what the rules of the URI's route make of it: the first that is not behind the URI's own and
  // whose conditions hold. nullopt: they hold of none, and there is none without.
  [[nodiscard]] std::optional<std::size_t> choose(const UriRoute& of_uri, std::string_view host,
                                                  const Target& target, std::string_view method,
                                                  const Fields& fields) const;

 private:
  [[nodiscard]] Result<void> check_readings(std::string_view host, std::string_view path,
                                            std::size_t route) const;
  // How a path is compared: as text, segment by segment, or as a pattern without its last
  // placeholders, of which nothing else may follow.
  enum class Comparison { text, segments, cut };
  struct Row {
    std::string host;
    std::string path_prefix;
    std::size_t index;
    Comparison comparison = Comparison::text;
    bool has_regex = false;
    std::string specificity;
    std::size_t place = 0;
  };
  [[nodiscard]] static bool prefix_matches(const Row& row, std::string_view path) noexcept;
  [[nodiscard]] bool path_matches(const Row& row, std::string_view path) const;
  [[nodiscard]] const Row* first_of(const std::vector<Row>& rows, std::string_view host,
                                    std::string_view path) const;
  void add(const RouteMatch& match, std::size_t index);
  void sort();
  [[nodiscard]] Result<void> check_twins() const;
  void set_conditional_apart();
  std::vector<RouteMatch> matches_;  // by index
  std::vector<Row> rows_;            // most specific first; without conditions
  std::vector<Row> conditional_;     // likewise; with conditions
  std::vector<PathRules> paths_;     // by index
};

}  // namespace ringside::http
