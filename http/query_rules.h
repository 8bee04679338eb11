#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/target.h"

namespace ringside::http {

// What is done with a query before it is looked up, hashed or sent on, so that equal requests look
// equal: the origin is asked with the same query, so what is dropped can't poison an entry.
struct QueryRules {
  bool sort = false;              // parameters by name; those of one name keep their order
  std::vector<std::string> keep;  // only these; empty: all. A `*` at the end: all that begin so
  std::vector<std::string> drop;  // not these; likewise

  [[nodiscard]] bool empty() const noexcept { return !sort && keep.empty() && drop.empty(); }
  // The query (without `?`) by these rules. Parameters stand between `&`, empty ones are left out;
  // a name ends at the first `=` and is compared as it is written. What is kept stays as it is
  // written too. With more than limits::query_parameters, or without rules, the query stays as it
  // is.
  [[nodiscard]] std::string applied(std::string_view query) const;
  // A query of which nothing is left is none.
  void apply_to(Target& target) const;
  bool operator==(const QueryRules&) const = default;
};

}  // namespace ringside::http
