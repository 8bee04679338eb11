#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "shard/quotation.h"

// How the JSON of topologies and states is read: every Error names the place and the remedy.
namespace ringside::shard {

using nlohmann::json;

[[nodiscard]] inline Error wrong(std::string_view place, std::string_view message) {
  return invalid_input(fmt::format("{}: {}", place, message));
}

// One object of the request and where it stands. Borrows the json.
class ObjectReader {
 public:
  ObjectReader(const json& object, std::string place) : object_(object), place_(std::move(place)) {}

  // `shown` are those that our own page has besides: they say nothing here.
  [[nodiscard]] Result<void> only(std::initializer_list<std::string_view> known,
                                  std::initializer_list<std::string_view> shown) const {
    if (!object_.is_object()) {
      return wrong(place_.empty() ? "the whole" : place_,
                   fmt::format("is of type {}; give an object with {}", object_.type_name(),
                               fmt::join(known, ", ")));
    }
    for (const auto& [key, value] : object_.items()) {
      const bool is_one = std::find(known.begin(), known.end(), key) != known.end() ||
                          std::find(shown.begin(), shown.end(), key) != shown.end();
      if (!is_one) {
        return wrong(place_of(quotation(key)),
                     fmt::format("this key is not known; it may be {}", fmt::join(known, ", ")));
      }
    }
    return {};
  }

  [[nodiscard]] const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  [[nodiscard]] Result<std::string> text(const char* key) const {
    const json* value = find(key);
    if (!value) return wrong(place_of(key), "is missing; give a string");
    if (!value->is_string()) {
      return wrong(place_of(key), fmt::format("is of type {}; give a string", value->type_name()));
    }
    return value->get<std::string>();
  }

  [[nodiscard]] Result<std::uint64_t> count(const char* key) const {
    const json* value = find(key);
    if (!value) return wrong(place_of(key), "is missing; give a whole number");
    if (!value->is_number()) {
      return wrong(place_of(key),
                   fmt::format("is of type {}; give a whole number", value->type_name()));
    }
    if (!value->is_number_unsigned()) {
      return wrong(place_of(key), "is negative, too large or has a fraction; give a whole number");
    }
    return value->get<std::uint64_t>();
  }

  [[nodiscard]] std::string place_of(std::string_view key) const {
    return place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key);
  }

 private:
  const json& object_;
  std::string place_;
};

}  // namespace ringside::shard
