#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ringside::fault {

// The kinds of system calls by which our connections meet the kernel. This program defines them
// itself, in front of the C library's: what the code under test and OpenSSL call by name passes
// here first. Only threads of the cores are concerned, and only sockets.
enum class Call { receive, send, accept, connect };
inline constexpr std::size_t calls = 4;

// What happens to how many of the calls of one kind; shares from 0 to 1, tried in this order.
struct Odds {
  double error = 0;    // it fails with one of `errors`
  double not_now = 0;  // EINTR or EAGAIN, though it could be done
  double cut = 0;      // fewer bytes than it could take or give, one at least
  std::vector<int> errors;
};

// What is to go wrong, from now until its end; one at a time.
class Faults {
 public:
  // At random, but always alike as far as the calls come in the same order.
  Faults(std::uint32_t seed, const std::array<Odds, calls>& odds);
  // Just the `number`th call of that kind, counted from 0, and those that follow it directly up to
  // `length`.
  Faults(Call call, std::uint64_t number, int error, unsigned length = 1);
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  // How many calls of that kind there were, and how many of them went wrong.
  [[nodiscard]] std::uint64_t seen(Call call) const;
  [[nodiscard]] std::uint64_t done(Call call) const;
};

}  // namespace ringside::fault
