#include "k8s/api_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/limits.h"
#include "k8s/stateful_set.h"

namespace ringside::k8s {
namespace {

using nlohmann::json;

// Every key that this room reads, wherever it stands.
constexpr std::array known_keys{
    std::string_view("addressType"),
    std::string_view("addresses"),
    std::string_view("annotations"),
    std::string_view("causes"),
    std::string_view("code"),
    std::string_view("conditions"),
    std::string_view("continue"),
    std::string_view("details"),
    std::string_view("endpoints"),
    std::string_view("generation"),
    std::string_view("items"),
    std::string_view("kind"),
    std::string_view("message"),
    std::string_view("metadata"),
    std::string_view("name"),
    std::string_view("namespace"),
    std::string_view("object"),
    std::string_view("ordinals"),
    std::string_view("port"),
    std::string_view("ports"),
    std::string_view("preferredVersion"),
    std::string_view("protocol"),
    std::string_view("ready"),
    std::string_view("reason"),
    std::string_view("replicas"),
    std::string_view("resourceVersion"),
    std::string_view("retryAfterSeconds"),
    weight_annotation,
    std::string_view("serviceName"),
    std::string_view("serving"),
    std::string_view("spec"),
    std::string_view("start"),
    std::string_view("targetRef"),
    std::string_view("terminating"),
    std::string_view("topology"),
    std::string_view("topology.kubernetes.io/zone"),
    std::string_view("type"),
    std::string_view("version"),
    std::string_view("versions"),
    std::string_view("zone"),
};
static_assert(std::is_sorted(known_keys.begin(), known_keys.end()));

bool is_known(std::string_view key) {
  return std::binary_search(known_keys.begin(), known_keys.end(), key);
}

// Builds the value of what is known and counts through the rest. nlohmann's parser does not
// recurse, and a level of what is not kept costs it a bit.
class Keeper final : public nlohmann::json_sax<json> {
 public:
  [[nodiscard]] json&& value() noexcept { return std::move(root_); }
  [[nodiscard]] const std::string& wrong() const noexcept { return wrong_; }

  bool null() override { return keep(nullptr); }
  bool boolean(bool value) override { return keep(value); }
  bool number_integer(number_integer_t value) override { return keep(value); }
  bool number_unsigned(number_unsigned_t value) override { return keep(value); }
  bool number_float(number_float_t value, const string_t&) override { return keep(value); }
  bool string(string_t& value) override { return keep(std::move(value)); }
  bool binary(binary_t&) override { return fail("holds binary data"); }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    if (passed_over_ > 0) return true;
    is_kept_ = is_known(key);
    if (is_kept_) key_ = std::move(key);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return fail(fmt::format("is no JSON at byte {}", position));
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
    if (open_.size() == limits::json_depth) {
      return fail(fmt::format("nests more than {} deep", limits::json_depth));
    }
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
    if (++kept_ > limits::api_values) {
      fail(fmt::format("has more than {} values of use", limits::api_values));
      return nullptr;
    }
    if (open_.empty()) return &(root_ = std::move(value));
    json& parent = *open_.back();
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    return &(parent[key_] = std::move(value));
  }

  bool fail(std::string what) {
    wrong_ = std::move(what);
    return false;
  }

  json root_;
  std::vector<json*> open_;      // within each other; a parent stays in place while a child is open
  std::string key_;              // of the value that comes next, where it is an object's
  bool is_kept_ = true;          // that value
  std::size_t passed_over_ = 0;  // objects and arrays that are open and not kept
  std::size_t kept_ = 0;
  std::string wrong_;
};

}  // namespace

Failure malformed(std::string message) {
  return Failure{FailureReason::malformed, std::move(message), std::nullopt};
}

ApiJson::ApiJson(std::string_view text) {
  if (text.size() > limits::api_answer_size_bytes) {
    fail(malformed(fmt::format("the API server's answer has {} bytes; at most {} are read",
                               text.size(), limits::api_answer_size_bytes)));
    return;
  }
  Keeper keeper;
  json::sax_parse(text, &keeper);
  if (keeper.wrong().empty()) {
    root_ = keeper.value();
  } else {
    fail(
        malformed(fmt::format("the answer of {} bytes {}: is this address a Kubernetes API "
                              "server's, and nothing between that cuts or changes answers?",
                              text.size(), keeper.wrong())));
  }
}

ApiField ApiJson::root() { return {*this, &root_, ""}; }

void ApiJson::fail(Failure failure) {
  if (!failure_) failure_ = std::move(failure);
}

ApiField::ApiField(ApiJson& whole, const json* value, std::string path)
    : whole_(&whole), value_(value && value->is_null() ? nullptr : value), path_(std::move(path)) {}

ApiField ApiField::at(std::string_view key) const {
  std::string path = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  if (!value_) return {*whole_, nullptr, std::move(path)};
  if (!value_->is_object()) {
    be("an object");
    return {*whole_, nullptr, std::move(path)};
  }
  const auto found = value_->find(key);
  return {*whole_, found == value_->end() ? nullptr : &*found, std::move(path)};
}

std::vector<ApiField> ApiField::elements() const {
  std::vector<ApiField> out;
  if (!value_) return out;
  if (!value_->is_array()) {
    be("an array");
    return out;
  }
  out.reserve(value_->size());
  for (const json& element : *value_) {
    out.emplace_back(*whole_, &element, fmt::format("{}[{}]", path_, out.size()));
  }
  return out;
}

std::string ApiField::text() const {
  if (!value_) return {};
  if (value_->is_string()) return value_->get<std::string>();
  be("a string");
  return {};
}

std::string ApiField::needed_text() const {
  std::string out = text();
  if (out.empty()) fail("is missing or empty");
  return out;
}

std::optional<bool> ApiField::truth() const {
  if (!value_) return std::nullopt;
  if (value_->is_boolean()) return value_->get<bool>();
  be("true or false");
  return std::nullopt;
}

std::optional<std::uint64_t> ApiField::count() const {
  if (!value_) return std::nullopt;
  if (value_->is_number_unsigned()) return value_->get<std::uint64_t>();
  if (value_->is_number()) {
    fail("is negative, too large or has a fraction");
  } else {
    be("a whole number");
  }
  return std::nullopt;
}

void ApiField::fail(std::string_view what) const {
  whole_->fail(
      malformed(fmt::format("the API server's answer is not as the Kubernetes API has it: {} {}",
                            path_.empty() ? "the whole" : path_, what)));
}

void ApiField::be(std::string_view wanted) const {
  fail(fmt::format("is of type {}, not {}", value_->type_name(), wanted));
}

}  // namespace ringside::k8s
