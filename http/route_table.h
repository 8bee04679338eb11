#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/path_rules.h"
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
  bool operator==(const RouteMatch&) const = default;
};

// Finds a request's route: the exact host before wildcards (the longest first) before any host; of
// equal hosts the longest path prefix, where a name is nearer than a placeholder (specificity).
// Where no path of the nearest host matches, the next host is tried. Immutable, thread-safe.
class RouteTable {
 public:
  // Refuses two equal matches; the Error names both. Refuses matches that no request can have.
  // `paths`: of each route; without them, those that change nothing.
  [[nodiscard]] static Result<RouteTable> make(const std::vector<RouteMatch>& matches,
                                               std::vector<PathRules> paths = {});
  // The position in `matches` of the route for a normalised host and path.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view host,
                                                std::string_view path) const noexcept;

  // The route of a request, and its path in the one form in which it is matched, keyed and sent to
  // the origin, as the route's rules have it. Matched is the path with its slashes merged, whatever
  // is sent on, so that `//account` is under the rules of `/account`. A path that some origins read
  // as another one is refused (400) where the route of either reading says so: neither
  // `/static/..%2Faccount` nor `/%2Faccount` gets past the rules of `/account`. Without a route
  // nothing is changed or refused.
  [[nodiscard]] Result<std::optional<std::size_t>> find_canonical(std::string_view host,
                                                                  Target& target) const;

 private:
  [[nodiscard]] Result<void> check_readings(std::string_view host, std::string_view path,
                                            std::size_t route) const;
  // How a path is compared: as text, segment by segment, or as a pattern without its last
  // placeholders, of which nothing else may follow.
  enum class Comparison { text, segments, cut };
  struct Row {
    RouteMatch match;
    std::size_t index;
    Comparison comparison = Comparison::text;
    std::string specificity;
  };
  [[nodiscard]] static bool path_matches(const Row& row, std::string_view path) noexcept;
  void add(const RouteMatch& match, std::size_t index);
  [[nodiscard]] Result<void> sort();
  std::vector<Row> rows_;         // most specific first
  std::vector<PathRules> paths_;  // by index
};

}  // namespace ringside::http
