#include "tests/simulation/less.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace ringside::simulation {
namespace {

template <std::uint64_t Less::*what, std::uint64_t divisor>
void divide(Less& less) {
  less.*what = std::max(less.*what, divisor);
}
template <bool Less::*what>
void drop(Less& less) {
  less.*what = true;
}

constexpr auto all_knobs = std::to_array<Knob>({
    {"requests/2", divide<&Less::requests, 2>},
    {"requests/4", divide<&Less::requests, 4>},
    {"requests/8", divide<&Less::requests, 8>},
    {"pages/2", divide<&Less::pages, 2>},
    {"pages/4", divide<&Less::pages, 4>},
    {"pages/8", divide<&Less::pages, 8>},
    {"cores", drop<&Less::cores>},
    {"clients", drop<&Less::clients>},
    {"stalls", drop<&Less::stalls>},
    {"jitter", drop<&Less::jitter>},
    {"pieces", drop<&Less::pieces>},
    {"delays", drop<&Less::delays>},
    {"clocks", drop<&Less::clocks>},
});

Less of_environment() {
  const char* const text = std::getenv("RINGSIDE_SIMULATION_LESS");
  return text == nullptr ? Less{} : parse_less(text);
}

Less& present() {
  static Less less = of_environment();
  return less;
}

bool changes(const Knob& knob, const Less& less) {
  Less turned = less;
  knob.turn(turned);
  return turned != less;
}

}  // namespace

std::span<const Knob> knobs() { return all_knobs; }

std::string text_of(const Less& less) {
  std::vector<std::string_view> names;
  Less told;
  // From the largest steps on: one that was told says all that the smaller ones do.
  for (std::size_t left = all_knobs.size(); left > 0; --left) {
    const Knob& knob = all_knobs[left - 1];
    if (changes(knob, less) || !changes(knob, told)) continue;
    knob.turn(told);
    names.push_back(knob.name);
  }
  std::string text;
  for (std::size_t left = names.size(); left > 0; --left) {
    if (!text.empty()) text += ',';
    text += names[left - 1];
  }
  return text;
}

Less parse_less(std::string_view text) {
  Less less;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    const auto* const knob = std::find_if(all_knobs.begin(), all_knobs.end(),
                                          [&](const Knob& one) { return one.name == name; });
    if (knob == all_knobs.end()) {
      throw std::invalid_argument("RINGSIDE_SIMULATION_LESS: no such knob: " + std::string(name));
    }
    knob->turn(less);
  }
  return less;
}

const Less& less() { return present(); }

LessFor::LessFor(const Less& now) : before_(less()) { present() = now; }
LessFor::~LessFor() { present() = before_; }

}  // namespace ringside::simulation
