#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

// One line per event on stderr: time, level, message. For operators; never one per request.
// Whatever becomes of stderr (a pipe that nobody reads), nobody who logs waits for it
// (base/log_writer.h).
namespace ringside::log {

enum class Level { debug, info, warning, error };

// Process-wide threshold; set once at start.
void set_level(Level level) noexcept;

// Thread-safe. `message` is printed with control bytes escaped, so that no input can forge a line,
// and cut at limits::log_line_size_bytes.
void write(Level level, std::string_view message);

// Tells how many lines were folded (base/log_folding.h), of those of which there was no more for a
// while. With each line that is written that is done anyway; to be called now and then.
void tell_folded();

// Until all is written, or limits::log_flush is over. At exit() that is done anyway.
void flush() noexcept;
// Lines that were not written, because too many waited already.
[[nodiscard]] std::uint64_t dropped() noexcept;

template <class... A>
void info(fmt::format_string<A...> format, A&&... arguments) {
  write(Level::info, fmt::format(format, std::forward<A>(arguments)...));
}
template <class... A>
void warning(fmt::format_string<A...> format, A&&... arguments) {
  write(Level::warning, fmt::format(format, std::forward<A>(arguments)...));
}
template <class... A>
void error(fmt::format_string<A...> format, A&&... arguments) {
  write(Level::error, fmt::format(format, std::forward<A>(arguments)...));
}

}  // namespace ringside::log
