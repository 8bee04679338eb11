#include "k8s/api_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "base/limits.h"
#include "k8s/config_map.h"
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
    std::string_view("data"),
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
    config_map_key,
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

std::string words_for_fault(const JsonFault& fault) {
  switch (fault.kind) {
    case JsonFault::Kind::too_deep:
      return fmt::format("nests more than {} deep", limits::json_depth);
    case JsonFault::Kind::too_many_values:
      return fmt::format("has more than {} values of use", limits::json_values);
    default:
      return fmt::format("is no JSON at byte {}", fault.position);
  }
}

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
  JsonTerms terms;
  terms.is_kept = is_known;
  terms.may_repeat_keys = true;
  if (const auto fault = read_json(text, terms, root_)) {
    root_ = nullptr;
    fail(
        malformed(fmt::format("the answer of {} bytes {}: is this address a Kubernetes API "
                              "server's, and nothing between that cuts or changes answers?",
                              text.size(), words_for_fault(*fault))));
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
