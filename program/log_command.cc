#include "program/log_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <utility>

#include "base/json.h"
#include "base/limits.h"
#include "base/seldom.h"
#include "program/quantities.h"
#include "program/values.h"

namespace ringside::program {
namespace {

using nlohmann::json;

// No other reader has it.
std::string some_name() {
  std::random_device device;
  return fmt::format("ringside-log-{:08x}{:08x}", device(), device());
}

std::string body_of(const LogFilterTexts& filter) {
  json body{{"reader", some_name()}};
  for (const LogFilterRow& row : log_filter_rows) {
    if (!(filter.*(row.text)).empty()) body[row.key] = filter.*(row.text);
  }
  return body.dump();
}

// Well below limits::log_reader_patience: a process that is silent must not have the others forget
// us.
constexpr Milliseconds answer_timeout = 5 * limits::log_poll;

// A process that is followed.
struct Followed {
  Endpoint address;
  bool was_heard = false;  // ever
  bool is_lost = false;
  std::uint64_t dropped = 0;                // of which nothing is said yet
  log::Seldom seldom{Milliseconds{1'000}};  // is it said
};

void tell_dropped(Followed& process, SteadyPoint now) {
  if (process.dropped == 0 || !process.seldom.next(now)) return;
  fmt::print(stderr,
             "ringside log: {} requests at {} are left out: it tells of {} at a time; ask for "
             "fewer, such as by --status 5xx\n",
             grouped(std::exchange(process.dropped, 0)), process.address.text(),
             grouped(limits::log_reader_lines));
}

Result<LogAnswer> ask(const Followed& process, const LogOptions& options, const std::string& body,
                      Milliseconds timeout) {
  const auto page =
      ask_page(process.address, options.pages.token, "POST", "/log", body, {200}, timeout);
  return page ? parse_log_answer(*page) : page.error();
}

// What is to be said of an answer, or of why there is none, beside its lines.
void note(Followed& process, const Result<LogAnswer>& answer, SteadyPoint now) {
  const bool was_lost = std::exchange(process.is_lost, !answer);
  if (!answer) {
    if (was_lost) return;
    fmt::print(stderr, "ringside log: {}; it is asked again\n", answer.error().message);
    return;
  }
  if (answer->begun && process.was_heard) {
    fmt::print(stderr, "ringside log: {} is followed anew; requests before this are missing\n",
               process.address.text());
  }
  process.was_heard = true;
  process.dropped += answer->dropped;
  tell_dropped(process, now);
}

// Whose turn it is among those that are lost: one in a round, since each may let us wait.
std::size_t next_lost(const std::vector<Followed>& processes, std::size_t last) {
  for (std::size_t i = 1; i <= processes.size(); ++i) {
    const std::size_t index = (last + i) % processes.size();
    if (processes[index].is_lost) return index;
  }
  return processes.size();
}

// Prints them; false: that is enough, or nobody reads it any more.
bool print_lines(const std::vector<std::string>& lines, std::uint64_t& printed,
                 std::uint64_t most) {
  for (const std::string& line : lines) {
    fmt::print("{}\n", line);
    if (++printed == most) return false;
  }
  return std::fflush(stdout) == 0;
}

}  // namespace

void add_log_flags(CLI::App& app, LogTexts& texts) {
  for (const LogFilterRow& row : log_filter_rows) {
    app.add_option(row.flag, texts.filter.*(row.text), row.help)->type_name(row.value_name);
  }
  app.add_option("--lines", texts.lines, "End after so many lines")->type_name("N");
}

Result<void> read_log_flags(const LogTexts& texts, LogOptions& out) {
  const auto filter = parse_log_filter(texts.filter);
  if (!filter) {
    std::string message = filter.error().message;
    std::replace(message.begin(), message.begin() + static_cast<long>(message.find(':')), '_', '-');
    return invalid_input("--" + message);
  }
  out.filter = texts.filter;
  if (texts.lines.empty()) return {};
  const auto lines = parse_number(texts.lines, 1, std::numeric_limits<std::uint64_t>::max());
  if (!lines) return invalid_input("--lines: " + lines.error().message);
  out.lines_most = *lines;
  return {};
}

Result<LogAnswer> parse_log_answer(const std::string& body) {
  const auto page = parse_strict_json(body);
  std::string why = page ? "" : page.error().message;
  if (page) {
    try {
      return LogAnswer{page->at("lines").get<std::vector<std::string>>(),
                       page->at("dropped").get<std::uint64_t>(), page->at("begun").get<bool>()};
    } catch (const json::exception& failure) {
      why = failure.what();
    }
  }
  return Error{ErrorKind::internal, ErrorSource::peer, Retry::no,
               fmt::format("the answer is no part of a log: {}; is it the same release?", why)};
}

Result<void> run_log(const LogOptions& options, const Clock& clock) {
  std::signal(SIGPIPE, SIG_IGN);  // a process that goes away must not end us; stdout is looked at
  const std::string body = body_of(options.filter);
  std::vector<Followed> processes;
  for (const Endpoint& address : options.pages.addresses) processes.push_back({address});
  std::uint64_t printed = 0;
  std::size_t lost = 0;
  for (bool is_first = true;; is_first = false) {
    lost = next_lost(processes, lost);
    Milliseconds timeout = answer_timeout;
    for (std::size_t i = 0; i < processes.size(); ++i) {
      Followed& process = processes[i];
      if (process.is_lost && i != lost) continue;
      const auto answer = ask(process, options, body, timeout);
      if (!answer && is_first) return answer.error();
      note(process, answer, clock.steady_now());
      if (!answer) timeout = limits::log_poll;  // of several that are silent only one is waited for
      if (answer && !print_lines(answer->lines, printed, options.lines_most)) return {};
    }
    std::this_thread::sleep_for(limits::log_poll);
  }
}

}  // namespace ringside::program
