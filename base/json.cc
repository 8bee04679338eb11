#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/quotation.h"

namespace ringside {
namespace {

using nlohmann::json;
using Kind = JsonFault::Kind;

// Builds the value of what is kept and counts through the rest. nlohmann's parser does not recurse,
// and a level of what is not kept costs it a bit.
class Keeper final : public nlohmann::json_sax<json> {
 public:
  Keeper(const JsonTerms& terms, json& root) : terms_(terms), root_(root) {}
  [[nodiscard]] const std::optional<JsonFault>& fault() const noexcept { return fault_; }

  bool null() override { return keep(nullptr); }
  bool boolean(bool value) override { return keep(value); }
  bool number_integer(number_integer_t value) override { return keep(value); }
  bool number_unsigned(number_unsigned_t value) override { return keep(value); }
  bool number_float(number_float_t value, const string_t&) override { return keep(value); }
  bool string(string_t& value) override { return keep(std::move(value)); }
  bool binary(binary_t&) override { return fail({Kind::no_json, 0, {}}); }  // JSON has none
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    if (passed_over_ > 0) return true;
    is_kept_ = terms_.is_kept == nullptr || terms_.is_kept(key);
    if (!is_kept_) return true;
    if (!terms_.may_repeat_keys && open_.back()->contains(key)) {
      return fail({Kind::repeated_key, 0, std::move(key)});
    }
    key_ = std::move(key);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return fail({Kind::no_json, position, {}});
  }

 private:
  // Whether the value that comes now is kept. Asked once for each.
  bool take() { return passed_over_ == 0 && std::exchange(is_kept_, true); }

  bool keep(json value) { return !take() || put(std::move(value)) != nullptr; }

  bool open(json value) {
    if (!take()) {
      ++passed_over_;
      return true;
    }
    if (open_.size() == limits::json_depth) return fail({Kind::too_deep, 0, {}});
    json* const place = put(std::move(value));
    if (!place) return false;
    open_.push_back(place);
    return true;
  }

  bool close() {
    if (passed_over_ > 0) {
      --passed_over_;
    } else {
      open_.pop_back();
    }
    return true;
  }

  json* put(json value) {
    if (++kept_ > limits::json_values) {
      fail({Kind::too_many_values, 0, {}});
      return nullptr;
    }
    if (open_.empty()) return &(root_ = std::move(value));
    json& parent = *open_.back();
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    return &(parent[key_] = std::move(value));
  }

  bool fail(JsonFault fault) {
    fault_ = std::move(fault);
    return false;
  }

  const JsonTerms& terms_;
  json& root_;
  std::vector<json*> open_;      // within each other; a parent stays in place while a child is open
  std::string key_;              // of the value that comes next, where it is an object's
  bool is_kept_ = true;          // that value
  std::size_t passed_over_ = 0;  // objects and arrays that are open and not kept
  std::size_t kept_ = 0;
  std::optional<JsonFault> fault_;
};

std::string words_for(const JsonFault& fault, std::string_view text) {
  switch (fault.kind) {
    case Kind::too_deep:
      return fmt::format(
          "objects and arrays stand more than {} deep within each other; no setting needs that",
          limits::json_depth);
    case Kind::too_many_values:
      return fmt::format("it has more than {} values; no setting needs that", limits::json_values);
    case Kind::repeated_key:
      return fmt::format("the key {} stands twice in one object; leave one of them out",
                         quotation(fault.key));
    case Kind::no_json:
      break;
  }
  const std::string_view before = text.substr(0, std::max<std::size_t>(fault.position, 1) - 1);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return fmt::format("line {}, column {}: this is no JSON; correct the text there or before", line,
                     column);
}

}  // namespace

std::optional<JsonFault> read_json(std::string_view text, const JsonTerms& terms, json& into) {
  // The parser takes a zero byte for the end, and none may stand in JSON (RFC 8259 §7).
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) return JsonFault{Kind::no_json, zero + 1, {}};
  Keeper keeper(terms, into);
  json::sax_parse(text, &keeper);
  return keeper.fault();
}

Result<json> parse_strict_json(std::string_view text) {
  json value;
  if (const auto fault = read_json(text, {}, value)) {
    return invalid_input(words_for(*fault, text));
  }
  // In place, since json would convert itself to an Error as readily as to a value.
  return Result<json>(boost::system::in_place_value, std::move(value));
}

}  // namespace ringside
