#include "k8s/reflection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/limits.h"
#include "base/quotation.h"
#include "k8s/api_object.h"
#include "k8s/api_status.h"

namespace ringside::k8s {
namespace {

using Type = WatchEvent::Type;

// Resource versions are opaque, but those that are numbers are in order.
std::optional<std::uint64_t> number_of(std::string_view version) {
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc() || end != version.data() + version.size()) return std::nullopt;
  return number;
}

bool is_older(std::string_view version, std::string_view than) {
  const auto left = number_of(version);
  const auto right = number_of(than);
  return left && right && *left < *right;
}

// A watch goes on where it was, whatever comes twice.
void advance(std::string& version, const std::string& to) {
  if (!is_older(to, version)) version = to;
}

// Whether two states of one object say the same to us.
template <class Object>
bool says_the_same(const Object& left, Object right) {
  right.resource_version = left.resource_version;
  return left == right;
}

Failure failure_of_error(const ApiField& object) {
  const Status status = read_status(object);
  if (object.whole().failure()) return *object.whole().failure();
  return failure_of_error_event(status);
}

Failure no_such_set(std::string_view name) {
  return Failure{FailureReason::not_found,
                 fmt::format("there is no StatefulSet {} in this namespace: create it, or correct "
                             "its name or the namespace (`kubectl get statefulsets -A`)",
                             quotation(name)),
                 std::nullopt};
}

Failure set_deleted(std::string_view name) {
  return Failure{FailureReason::not_found,
                 fmt::format("StatefulSet {} was deleted: its last replicas stay known until there "
                             "is one of that name again",
                             quotation(name)),
                 std::nullopt};
}

Failure too_many_slices() {
  return malformed(
      fmt::format("the service has more than {} EndpointSlices: is its selector wider "
                  "than the StatefulSet's pods?",
                  limits::endpoint_slices));
}

}  // namespace

Outcome<void> StatefulSetReflection::listed(std::string_view body) {
  ApiJson json(body);
  const ApiList list = read_list(json.root(), "StatefulSet");
  std::optional<StatefulSet> found;
  for (const ApiField& item : list.items) {
    if (item.at("metadata").at("name").text() == name_) found = read_stateful_set(item);
  }
  if (json.failure()) return *json.failure();
  if (!found) return no_such_set(name_);
  value_ = std::move(found);
  resource_version_ = list.resource_version;
  return {};
}

Outcome<bool> StatefulSetReflection::event(std::string_view line) {
  ApiJson json(line);
  const WatchEvent event = read_event(json.root(), "StatefulSet");
  if (event.type == Type::error && !json.failure()) return failure_of_error(event.object);
  const bool is_ours = event.type != Type::bookmark && event.type != Type::error &&
                       event.object.at("metadata").at("name").needed_text() == name_;
  if (json.failure()) return *json.failure();
  const bool is_late = value_ && is_older(event.resource_version, value_->resource_version);
  if (!is_ours || is_late) {
    advance(resource_version_, event.resource_version);
    return false;
  }
  if (event.type == Type::deleted) return set_deleted(name_);
  StatefulSet set = read_stateful_set(event.object);
  if (json.failure()) return *json.failure();
  advance(resource_version_, event.resource_version);
  const bool is_news = !value_ || !says_the_same(*value_, set);
  value_ = std::move(set);
  return is_news;
}

Outcome<void> EndpointSliceReflection::listed(std::string_view body) {
  ApiJson json(body);
  const ApiList list = read_list(json.root(), "EndpointSlice");
  if (list.items.size() > limits::endpoint_slices) return too_many_slices();
  std::map<std::string, EndpointSlice> slices;
  for (const ApiField& item : list.items) {
    auto slice = read_endpoint_slice(item);
    if (!slice) continue;
    EndpointSlice& kept = slices[slice->name];
    kept = *std::move(slice);
  }
  if (json.failure()) return *json.failure();
  slices_ = std::move(slices);
  deleted_.clear();
  resource_version_ = list.resource_version;
  listed_at_ = list.resource_version;
  return {};
}

Outcome<bool> EndpointSliceReflection::event(std::string_view line) {
  ApiJson json(line);
  const WatchEvent event = read_event(json.root(), "EndpointSlice");
  if (event.type == Type::error && !json.failure()) return failure_of_error(event.object);
  std::string name;
  std::optional<EndpointSlice> slice;
  if (event.type == Type::deleted) {
    name = event.object.at("metadata").at("name").needed_text();
  } else if (event.type != Type::bookmark) {
    slice = read_endpoint_slice(event.object);
    if (slice) name = slice->name;
  }
  if (json.failure()) return *json.failure();

  Outcome<bool> changed = false;
  if (event.type == Type::deleted) {
    changed = remove(name, event.resource_version);
  } else if (slice) {
    changed = put(*std::move(slice));
  }
  if (changed) advance(resource_version_, event.resource_version);
  return changed;
}

bool EndpointSliceReflection::remove(const std::string& name, const std::string& version) {
  const auto held = slices_.find(name);
  if (held != slices_.end()) {
    if (is_older(version, held->second.resource_version)) return false;
    slices_.erase(held);
    remember_deleted(name, version);
    return true;
  }
  remember_deleted(name, version);
  return false;
}

Outcome<bool> EndpointSliceReflection::put(EndpointSlice slice) {
  const auto held = slices_.find(slice.name);
  if (held != slices_.end()) {
    if (is_older(slice.resource_version, held->second.resource_version)) return false;
    const bool is_news = !says_the_same(held->second, slice);
    held->second = std::move(slice);
    return is_news;
  }
  if (is_older(slice.resource_version, listed_at_)) return false;
  const auto deleted = deleted_.find(slice.name);
  if (deleted != deleted_.end()) {
    const auto version = number_of(slice.resource_version);
    if (version && *version <= deleted->second) return false;
    deleted_.erase(deleted);
  }
  if (slices_.size() == limits::endpoint_slices) return too_many_slices();
  std::string name = slice.name;
  slices_.emplace(std::move(name), std::move(slice));
  return true;
}

void EndpointSliceReflection::remember_deleted(const std::string& name,
                                               const std::string& version) {
  const auto number = number_of(version);
  if (!number) return;
  auto& at = deleted_[name];
  at = std::max(at, *number);
  if (deleted_.size() <= limits::endpoint_slices) return;
  // The one that is gone for longest is the last that a late event is to be expected of.
  deleted_.erase(std::min_element(
      deleted_.begin(), deleted_.end(),
      [](const auto& left, const auto& right) { return left.second < right.second; }));
}

}  // namespace ringside::k8s
