#include "k8s/contact.h"

#include <fmt/format.h>

#include <utility>

namespace ringside::k8s {

std::optional<std::string> Contact::heard(TimePoint now, bool proves) {
  heard_ = now;
  failure_.reset();
  if (!proves || !std::exchange(logged_, std::nullopt)) return std::nullopt;
  return fmt::format("Kubernetes: {}: it answers again", what_);
}

std::optional<std::string> Contact::failed(const Failure& failure, bool is_trouble) {
  ++failures_[static_cast<std::size_t>(failure.reason)];
  failure_ = failure;
  if (!is_trouble || logged_ == failure.reason) return std::nullopt;
  logged_ = failure.reason;
  return fmt::format("Kubernetes: {}: {}{}", what_, failure.message,
                     heard_ ? "; the last known state stays" : "");
}

void Contact::start_over(std::string what) {
  what_ = std::move(what);
  heard_.reset();
  failure_.reset();
  logged_.reset();
}

}  // namespace ringside::k8s
