#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ringside::simulation {

// What a world has less of than its seed gives it. What still fails with less tells more of why.
struct Less {
  std::uint64_t requests = 1;  // so many times fewer, and rounds; in the scenes of the handoff
  std::uint64_t pages = 1;     // likewise
  bool cores = false;          // each process has one; likewise
  bool clients = false;        // one asks, and not several at once
  bool stalls = false;         // nothing takes long on the network
  bool jitter = false;         // all takes the same time there: nothing overtakes anything
  bool pieces = false;         // what is read and written is not cut into pieces
  bool delays = false;         // a core comes at once to what there is to do for it
  bool clocks = false;         // all clocks show the same
  bool operator==(const Less&) const = default;
};

// A step from more to less; a larger one comes after the smaller ones.
struct Knob {
  std::string_view name;
  void (*turn)(Less& less);
};
[[nodiscard]] std::span<const Knob> knobs();

// Names of knobs, with commas between; that text is read again as the same. Throws
// std::invalid_argument where there is no such knob.
[[nodiscard]] std::string text_of(const Less& less);
[[nodiscard]] Less parse_less(std::string_view text);

// What worlds have less of at present: what RINGSIDE_SIMULATION_LESS says, or a LessFor.
[[nodiscard]] const Less& less();

class LessFor {
 public:
  explicit LessFor(const Less& now);
  ~LessFor();
  LessFor(const LessFor&) = delete;
  LessFor& operator=(const LessFor&) = delete;

 private:
  const Less before_;
};

// What is left of so many.
[[nodiscard]] constexpr std::size_t share_of(std::size_t count, std::uint64_t divisor) {
  return count < divisor ? 1 : count / divisor;
}

}  // namespace ringside::simulation
