#include "shard/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/limits.h"
#include "shard/quotation.h"

namespace ringside::shard {
namespace {

using nlohmann::json;

// Reads through the text without keeping it and stops at the first thing that is wrong.
class StrictReader final : public nlohmann::json_sax<json> {
 public:
  explicit StrictReader(std::string_view text) : text_(text) {}

  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    if (keys_.back().insert(key).second) return true;
    return fail(fmt::format("the key {} stands twice in one object; leave one of them out",
                            quotation(key)));
  }

  // `position` counts bytes from 1.
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    const std::string_view before = text_.substr(0, std::max<std::size_t>(position, 1) - 1);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    return fail(fmt::format("line {}, column {}: this is no JSON; correct the text there or before",
                            line, column));
  }

 private:
  bool open() {
    if (keys_.size() == limits::json_depth) {
      return fail(
          fmt::format("objects and arrays stand more than {} deep within each other; "
                      "no setting needs that",
                      limits::json_depth));
    }
    keys_.emplace_back();
    return true;
  }

  bool close() {
    keys_.pop_back();
    return true;
  }

  bool fail(std::string message) {
    error_ = invalid_input(std::move(message));
    return false;
  }

  std::string_view text_;
  std::vector<std::set<std::string>> keys_;  // of each object that is open; empty for an array
  std::optional<Error> error_;
};

}  // namespace

Result<json> parse_strict_json(std::string_view text) {
  StrictReader reader(text);
  json::sax_parse(text, &reader);
  if (reader.error()) return *reader.error();
  // In place, since json would convert itself to an Error as readily as to a value.
  return Result<json>(boost::system::in_place_value, json::parse(text));
}

}  // namespace ringside::shard
