#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ringside::http {

// Which requests a route is for.
struct RouteMatch {
  // Normalised; empty: any host; "*.example.com": its subdomains of any depth. Without a port it
  // matches whatever port the client asked for, with one only that.
  std::string host;
  // Normalised; matches whole segments: /a matches /a and /a/b but not /ab; /a/ not /a. "/": all.
  std::string path_prefix = "/";
  bool operator==(const RouteMatch&) const = default;
};

// Finds a request's route: the exact host before wildcards (the longest first) before any host; of
// equal hosts the longest path prefix. Where no path of the nearest host matches, the next host is
// tried. Immutable, thread-safe.
class RouteTable {
 public:
  // Refuses two equal matches; the Error names both. Refuses matches that no request can have.
  [[nodiscard]] static Result<RouteTable> make(const std::vector<RouteMatch>& matches);
  // The position in `matches` of the route for a normalised host and path.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view host,
                                                std::string_view path) const noexcept;

 private:
  struct Row {
    RouteMatch match;
    std::size_t index;
  };
  std::vector<Row> rows_;  // most specific first
};

}  // namespace ringside::http
