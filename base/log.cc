#include "base/log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log_folding.h"
#include "base/log_writer.h"

namespace ringside::log {
namespace {

// Never destroyed: its thread may be writing, or stuck, until the process is gone.
Writer& writer() {
  static Writer* const instance = [] {
    std::atexit(flush);
    return new Writer(STDERR_FILENO);
  }();
  return *instance;
}

class Sink final : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    writer().write({line.data(), line.size()});
  }
  void flush_() override {}
};

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("ringside", std::make_shared<Sink>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    return made;
  }();
  return *instance;
}

spdlog::level::level_enum to_spdlog(Level level) noexcept {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// Never destroyed, as the writer.
struct Repetitions {
  static Repetitions& instance() {
    static Repetitions* const it = new Repetitions;
    return *it;
  }
  const SystemClock clock{};
  std::mutex mutex;  // of the rest
  Folding folding;
};

void tell(const std::vector<Folding::Folded>& lines) {
  for (const auto& line : lines) {
    logger().log(to_spdlog(line.level), "{} more of these lines were left out: {}", line.count,
                 line.text);
  }
}

std::string printable(std::string_view message) {
  constexpr std::size_t rest_of_line_bytes = 64;  // time and level; what is cut says so
  constexpr std::size_t most_bytes = limits::log_line_size_bytes - rest_of_line_bytes;
  std::string out;
  out.reserve(std::min(message.size(), most_bytes));
  for (const char c : message) {
    if (out.size() >= most_bytes) return out + " ...";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace

void set_level(Level level) noexcept { logger().set_level(to_spdlog(level)); }

void write(Level level, std::string_view message) {
  if (!logger().should_log(to_spdlog(level))) return;
  const std::string text = printable(message);
  Repetitions& repetitions = Repetitions::instance();
  const std::lock_guard lock(repetitions.mutex);
  const SteadyPoint now = repetitions.clock.steady_now();
  tell(repetitions.folding.due(now));
  if (repetitions.folding.is_written(level, text, now)) logger().log(to_spdlog(level), text);
}

void tell_folded() {
  Repetitions& repetitions = Repetitions::instance();
  const std::lock_guard lock(repetitions.mutex);
  tell(repetitions.folding.due(repetitions.clock.steady_now()));
}

void flush() noexcept {
  Repetitions& repetitions = Repetitions::instance();
  {
    const std::lock_guard lock(repetitions.mutex);
    tell(repetitions.folding.rest());
  }
  writer().flush(limits::log_flush);
}

std::uint64_t dropped() noexcept { return writer().dropped(); }

}  // namespace ringside::log
