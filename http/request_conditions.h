#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/fields.h"
#include "http/regex.h"

namespace ringside::http {

// What a header or a parameter must be.
struct ValueCondition {
  std::string name;                  // of a header in any case; of a parameter as it stands
  std::optional<std::string> value;  // exactly this
  std::optional<Regex> regex;        // what it matches; without either: it is there
  bool operator==(const ValueCondition&) const = default;
};

// What a route wants of requests beside their host and path: all of it.
struct RequestConditions {
  std::vector<std::string> methods;  // one of them; none: any
  std::vector<ValueCondition> headers;
  std::vector<ValueCondition> query;
  [[nodiscard]] bool empty() const noexcept {
    return methods.empty() && headers.empty() && query.empty();
  }
  bool operator==(const RequestConditions&) const = default;
};

// Whether they hold of a request. HEAD counts as GET, whose stored answers it is given, and so does
// PURGE, which is about them. A header's lines are compared in the form in which an origin is sent
// them (append_canonical), so that both hops find the same; one of several is enough, and so is one
// of several parameters of a name. `query` is in its normal form, without `?`.
[[nodiscard]] bool hold(const RequestConditions& conditions, std::string_view method,
                        const Fields& fields, std::string_view query);

// A header's value in that form.
[[nodiscard]] std::string canonical_value(std::string_view name, std::string_view value);

}  // namespace ringside::http
