#include "k8s/event_lines.h"

#include <fmt/format.h>

#include "base/limits.h"
#include "k8s/api_json.h"

namespace ringside::k8s {
namespace {

Outcome<void> give(std::string_view line, const EventLines::Taker& take) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line.empty() ? Outcome<void>() : take(line);
}

}  // namespace

Outcome<void> EventLines::add(std::string_view piece, const Taker& take) {
  while (!piece.empty()) {
    const auto end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    if (begun_.size() + part.size() > limits::api_event_size_bytes) {
      return malformed(fmt::format("an event of the watch has more than {} bytes",
                                   limits::api_event_size_bytes));
    }
    if (end == std::string_view::npos) {
      begun_ += part;
      return {};
    }
    piece.remove_prefix(end + 1);
    Outcome<void> taken;
    if (begun_.empty()) {
      taken = give(part, take);
    } else {
      begun_ += part;
      taken = give(begun_, take);
      begun_.clear();
    }
    if (!taken) return taken;
  }
  return {};
}

}  // namespace ringside::k8s
