#pragma once

#include <fmt/format.h>

#include <string_view>

// One line per event on stderr: time, level, message. For operators; never one per request.
namespace ringside::log {

enum class Level { debug, info, warning, error };

// Process-wide threshold; set once at start.
void set_level(Level level) noexcept;

// Thread-safe. `message` is printed with control bytes escaped, so that no input can forge a line.
void write(Level level, std::string_view message);

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
