#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "k8s/endpoint_slice.h"
#include "k8s/failure.h"
#include "k8s/stateful_set.h"

namespace ringside::k8s {

// What one list and the watch after it have told of some objects, kept as values: how client
// libraries call it, a reflector's store. Pure; not thread-safe. Kubernetes API concepts,
// "Efficient detection of changes".
//
// Events may come twice: an event that is older than what is held of its object (by resource
// version, where both are numbers) changes nothing. After a Failure nothing has changed.
class Reflection {
 public:
  virtual ~Reflection() = default;

  // The whole answer to a list; replaces everything.
  [[nodiscard]] virtual Outcome<void> listed(std::string_view body) = 0;
  // One line of a watch. True: what the objects say to us changed. FailureReason::gone: list again.
  [[nodiscard]] virtual Outcome<bool> event(std::string_view line) = 0;
  // Where a watch begins or is resumed; empty: a list comes first.
  [[nodiscard]] const std::string& resource_version() const noexcept { return resource_version_; }
  // Everything is to be listed again; what is known stays until then.
  void forget_version() noexcept { resource_version_.clear(); }

 protected:
  std::string resource_version_;
};

class StatefulSetReflection final : public Reflection {
 public:
  explicit StatefulSetReflection(std::string name) : name_(std::move(name)) {}
  // not_found where the list does not have it: what was known stays.
  [[nodiscard]] Outcome<void> listed(std::string_view body) override;
  // not_found where it was deleted: likewise.
  [[nodiscard]] Outcome<bool> event(std::string_view line) override;
  // Absent until it was seen for the first time.
  [[nodiscard]] const std::optional<StatefulSet>& value() const noexcept { return value_; }

 private:
  std::string name_;
  std::optional<StatefulSet> value_;
};

class EndpointSliceReflection final : public Reflection {
 public:
  [[nodiscard]] Outcome<void> listed(std::string_view body) override;
  [[nodiscard]] Outcome<bool> event(std::string_view line) override;
  [[nodiscard]] const std::map<std::string, EndpointSlice>& values() const noexcept {
    return slices_;
  }

 private:
  [[nodiscard]] Outcome<bool> put(EndpointSlice slice);
  bool remove(const std::string& name, const std::string& version);
  void remember_deleted(const std::string& name, const std::string& version);

  std::map<std::string, EndpointSlice> slices_;  // by name
  // At which resource version, since the last list; limits::endpoint_slices of them, the newest.
  std::map<std::string, std::uint64_t> deleted_;
  std::string listed_at_;  // what was not in the list of that version, and is older, was gone
};

}  // namespace ringside::k8s
