#include "metrics/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

namespace ringside::metrics {
namespace {

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    const auto begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) return out;
    text.remove_prefix(begin);
    const auto end = std::min(text.find_first_of(" \n"), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> boot_time_seconds(std::string_view system_stat) {
  constexpr std::string_view key = "\nbtime ";
  const auto begin = system_stat.find(key);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto line = system_stat.substr(begin + key.size());
  return whole_number(line.substr(0, line.find('\n')));
}

std::string contents(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::optional<ProcessFigures> process_from(std::string_view process_stat,
                                           std::string_view system_stat,
                                           const ProcessUnits& units) {
  // The second field is the program's name in parentheses and may itself hold both of them and
  // spaces; the fields behind it are numbered from 3 in proc(5).
  const auto name_end = process_stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  const auto fields = words(process_stat.substr(name_end + 1));
  constexpr std::size_t utime = 14 - 3, stime = 15 - 3, starttime = 22 - 3, rss = 24 - 3;
  if (fields.size() <= rss) return std::nullopt;
  const auto user = whole_number(fields[utime]), system = whole_number(fields[stime]);
  const auto started = whole_number(fields[starttime]), pages = whole_number(fields[rss]);
  const auto boot = boot_time_seconds(system_stat);
  if (!user || !system || !started || !pages || !boot) return std::nullopt;

  const auto ticks_per_second = static_cast<double>(units.ticks_per_second);
  ProcessFigures figures;
  figures.cpu_seconds = static_cast<double>(*user + *system) / ticks_per_second;
  figures.start_time_seconds =
      static_cast<double>(*boot) + static_cast<double>(*started) / ticks_per_second;
  figures.resident_memory_bytes = *pages * static_cast<std::uint64_t>(units.page_size_bytes);
  return figures;
}

std::optional<ProcessFigures> read_process() {
  const ProcessUnits units{::sysconf(_SC_CLK_TCK), ::sysconf(_SC_PAGESIZE)};
  auto figures = process_from(contents("/proc/self/stat"), contents("/proc/stat"), units);
  if (!figures) return std::nullopt;
  std::error_code error;
  const std::filesystem::directory_iterator descriptors("/proc/self/fd", error);
  if (error) return std::nullopt;
  const auto listed = std::distance(begin(descriptors), end(descriptors));
  figures->open_fds = static_cast<std::uint64_t>(listed - 1);  // without the one that lists them
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    figures->max_fds = limit.rlim_cur;
  }
  return figures;
}

}  // namespace ringside::metrics
