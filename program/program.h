#pragma once

namespace ringside::program {

// The `ringside` program. Returns the exit code: 0 success, 1 failure, 2 wrong usage or
// configuration, then with one line on stderr.
[[nodiscard]] int run(int argc, const char* const* argv);

}  // namespace ringside::program
