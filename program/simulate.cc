#include "program/simulate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "base/simulate_limits.h"
#include "program/shared_file.h"
#include "program/simulate_keys.h"
#include "simulate/report.h"

namespace ringside::program {
namespace {

using Form = SimulateOptions::Form;

// On stderr: a line that is written over on a terminal, else one now and then.
class News {
 public:
  News(const Clock& clock, std::size_t steps)
      : clock_(clock), steps_(steps), last_(clock.steady_now()) {}
  ~News() {
    if (is_shown_) fmt::print(stderr, "\r\x1b[K");
  }
  News(const News&) = delete;
  News& operator=(const News&) = delete;

  void tell(const simulate::Progress& progress) {
    const Milliseconds interval =
        is_terminal_ ? limits::simulate_news_terminal : limits::simulate_news;
    const SteadyPoint now = clock_.steady_now();
    if (now - last_ < interval) return;
    last_ = now;
    is_shown_ = is_terminal_;
    const double percent =
        100 * static_cast<double>(progress.done) / static_cast<double>(progress.all);
    fmt::print(stderr, "{}{:3.0f} %  {}, step {} of {}{}", is_terminal_ ? "\r\x1b[K" : "", percent,
               progress.scheme, progress.step + 1, steps_, is_terminal_ ? "" : "\n");
  }

 private:
  const Clock& clock_;
  const std::size_t steps_;
  const bool is_terminal_ = isatty(STDERR_FILENO) == 1;
  bool is_shown_ = false;
  SteadyPoint last_;
};

Result<std::string> read_part(const char* name) {
  const std::string path = shared_file(name);
  if (path.empty()) {
    return invalid_input(
        fmt::format("--html: share/ringside/{} is not beside the program; scripts/fetch-charts "
                    "--into BUILD_DIR puts the chart library there",
                    name));
  }
  auto text = read_file(path, limits::chart_library_size_bytes);
  if (!text) return invalid_input(fmt::format("--html: {}: {}", path, text.error().message));
  return text;
}

// The page's file and what is to be in it: looked for before anything is reckoned.
struct Page {
  std::ofstream file;
  simulate::ChartLibrary library;
};

Result<std::optional<Page>> open_page(const std::string& path) {
  if (path.empty()) return std::optional<Page>();
  auto program = read_part("chart.js");
  if (!program) return program.error();
  auto licence = read_part("chart.LICENSE");
  if (!licence) return licence.error();
  std::optional<Page> page(
      Page{std::ofstream(path, std::ios::binary), {*std::move(program), *std::move(licence)}});
  if (!page->file) {
    return invalid_input(fmt::format("--html: {}: {}; name a file that can be written", path,
                                     std::generic_category().message(errno)));
  }
  return page;
}

std::string in_form(const simulate::Report& report, Form form) {
  switch (form) {
    case Form::json:
      return simulate::to_json(report);
    case Form::csv:
      return simulate::to_csv(report);
    case Form::table:
      break;
  }
  return simulate::to_table(report);
}

}  // namespace

Result<void> run_simulate(const SimulateOptions& options, const Clock& clock) {
  auto page = open_page(options.html_file);
  if (!page) return page.error();
  auto keys = simulated_keys(options);
  if (!keys) return keys.error();
  simulate::Report report{keys->title, keys->keys.size(), {}, {}};
  for (const simulate::Step& step : options.steps) report.steps.push_back(step.title);
  {
    News news(clock, options.steps.size());
    report.rows =
        simulate::simulate(options.schemes, options.steps, keys->keys,
                           [&news](const simulate::Progress& progress) { news.tell(progress); });
  }
  fmt::print("{}", in_form(report, options.form));
  if (!*page) return {};
  (*page)->file << simulate::to_page(report, (*page)->library);
  (*page)->file.close();
  if ((*page)->file) return {};
  return Error{ErrorKind::internal, ErrorSource::ourselves, Retry::no,
               fmt::format("--html: {}: could not be written whole", options.html_file)};
}

}  // namespace ringside::program
