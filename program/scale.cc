#include "program/scale.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/limits.h"
#include "http/fields.h"
#include "http1/admin_client.h"
#include "program/quantities.h"

namespace ringside::program {
namespace {

constexpr int status_ok = 200;

using nlohmann::json;

Error no_scale_answer(std::string_view why) {
  return Error{
      ErrorKind::internal, ErrorSource::peer, Retry::no,
      fmt::format("what answers there is no `ringside up` of this release ({}); give --admin the "
                  "address that it printed behind \"admin on\"",
                  why)};
}

Result<std::string> ask_tier(const ScaleOptions& options, const std::string& method,
                             const std::string& body) {
  auto answer =
      http::ask_admin(options.admin, method, "/scale", body, limits::admin_timeout, options.token);
  if (!answer) return answer.error();
  constexpr int not_found = 404;
  if (answer->status == status_ok) return std::move(answer->body);
  if (answer->status == not_found) {
    return invalid_input(
        fmt::format("{}: what answers there is no `ringside up`; give --admin the address that it "
                    "printed behind \"admin on\", or change another tier by `ringside topology`",
                    options.admin.text()));
  }
  constexpr int unauthorized = 401;
  if (answer->status == unauthorized) {
    return invalid_input(fmt::format(
        "{}: changes need its token; give --admin-token-file FILE, as `ringside up` has it",
        options.admin.text()));
  }
  return Error{ErrorKind::internal, ErrorSource::peer, Retry::no,
               fmt::format("{}: refused with {}: {}", options.admin.text(), answer->status,
                           http::trimmed(answer->body.substr(0, answer->body.find('\n'))))};
}

std::string moves_text(const json& change) {
  std::string out;
  for (const json& move : change.at("moves")) {
    const auto gained = move.at("gained_buckets").get<std::size_t>();
    const auto lost = move.at("lost_buckets").get<std::size_t>();
    fmt::format_to(std::back_inserter(out), "           {:<12}",
                   move.at("member").get<std::string>());
    if (gained != 0) fmt::format_to(std::back_inserter(out), " +{}", grouped(gained));
    if (lost != 0) fmt::format_to(std::back_inserter(out), " -{}", grouped(lost));
    out.push_back('\n');
  }
  return out;
}

}  // namespace

Result<std::string> scale_summary(const std::string& answer) {
  const auto page = parse_strict_json(answer);
  if (!page) return no_scale_answer("it gives no JSON");
  try {
    const json& change = page->at("change");
    std::string out = fmt::format("replicas   {} -> {}\ntopology   version {} -> {}, id {}\n",
                                  change.at("replicas_before").get<std::size_t>(),
                                  change.at("replicas_after").get<std::size_t>(),
                                  change.at("version_before").get<std::uint64_t>(),
                                  change.at("version_after").get<std::uint64_t>(),
                                  page->at("id").get<std::string>());
    if (change.at("moved_buckets").is_null()) {
      return out + "buckets    not told by this scheme, which moves single keys\n";
    }
    const auto moved = change.at("moved_buckets").get<std::size_t>();
    const auto buckets = change.at("buckets").get<std::size_t>();
    constexpr double percent = 100;
    fmt::format_to(std::back_inserter(out), "buckets    {} of {} have another owner ({:.1f} %)\n",
                   grouped(moved), grouped(buckets),
                   percent * static_cast<double>(moved) / static_cast<double>(buckets));
    return out + moves_text(change);
  } catch (const json::exception& failure) {
    return no_scale_answer(failure.what());
  }
}

Result<std::string> scale_awaits(const std::string& answer) {
  const auto page = parse_strict_json(answer);
  if (!page) return no_scale_answer("it gives no JSON");
  try {
    std::vector<std::string> behind;
    for (const json& component : page->at("components")) {
      if (component.at("topology_id") != page->at("id")) {
        behind.push_back(component.at("name").get<std::string>());
      }
    }
    if (!behind.empty()) return fmt::format("the topology of {}", fmt::join(behind, ", "));
    const auto retiring = page->at("retiring").get<std::vector<std::string>>();
    if (!retiring.empty()) return fmt::format("the last answers of {}", fmt::join(retiring, ", "));
    return std::string();
  } catch (const json::exception& failure) {
    return no_scale_answer(failure.what());
  }
}

Result<MoveProgress> move_progress(const std::string& answer) {
  const auto page = parse_strict_json(answer);
  if (!page) return no_scale_answer("it gives no JSON");
  try {
    const json& handoff = page->at("handoff");
    return MoveProgress{handoff.at("buckets_away").get<std::uint64_t>(),
                        handoff.at("moved_responses").get<std::uint64_t>(),
                        handoff.at("moved_bytes").get<std::uint64_t>(),
                        handoff.value("moves_waiting", std::uint64_t{0}),
                        handoff.value("fills", std::uint64_t{0}),
                        handoff.value("refusals", std::uint64_t{0})};
  } catch (const json::exception& failure) {
    return no_scale_answer(failure.what());
  }
}

std::string move_text(const MoveProgress& from, const MoveProgress& now, Milliseconds since) {
  const auto grown = [](std::uint64_t before, std::uint64_t after) {
    return after > before ? after - before : 0;
  };
  const double seconds = std::chrono::duration<double>(since).count();
  constexpr double mebibyte = limits::kMiB;
  const double moved_mib = static_cast<double>(grown(from.moved_bytes, now.moved_bytes)) / mebibyte;
  std::string text =
      fmt::format("moving     {} buckets away; {} responses, {:.1f} MiB moved in {:.1f} s",
                  grouped(now.buckets_away),
                  grouped(grown(from.moved_responses, now.moved_responses)), moved_mib, seconds);
  if (seconds > 0) text += fmt::format(", {:.1f} MiB a second", moved_mib / seconds);
  text += fmt::format("; {} fills, {} refusals", grouped(grown(from.fills, now.fills)),
                      grouped(grown(from.refusals, now.refusals)));
  const std::uint64_t done = grown(now.buckets_away, from.buckets_away);
  if (now.buckets_away > 0 && done > 0) {
    const double left = static_cast<double>(now.buckets_away) / static_cast<double>(done);
    text += fmt::format("; about {:.1f} s left", left * seconds);
  }
  if (now.moves_waiting > 0) {
    text += "; waits for room in a full store (more --memory avoids this)";
  }
  return text;
}

namespace {

// Follows what moves, and prints a line whenever there is more. A small tier has moved all before
// anybody looks: so it counts from before the change on.
class Watch {
 public:
  // `state`: what `GET /scale` answers before the change.
  Result<void> begin(const std::string& state, SteadyPoint now) {
    const auto before = move_progress(state);
    if (!before) return before.error();
    from_ = *before;
    begun_ = now;
    return {};
  }

  // True: all has moved. `state`: what `GET /scale` answers.
  Result<bool> look(const std::string& state, SteadyPoint now) {
    const auto progress = move_progress(state);
    if (!progress) return progress.error();
    from_.buckets_away = std::max(from_.buckets_away, progress->buckets_away);
    const auto since = std::chrono::duration_cast<Milliseconds>(now - begun_);
    if (!last_ || moves_on(*last_, *progress)) {
      fmt::print("{}\n", move_text(from_, *progress, since));
    }
    last_ = *progress;
    return progress->buckets_away == 0;
  }

 private:
  // Requests that are filled or refused meanwhile are worth no line of their own.
  static bool moves_on(const MoveProgress& before, MoveProgress now) {
    now.fills = before.fills;
    now.refusals = before.refusals;
    return now != before;
  }

  SteadyPoint begun_;
  MoveProgress from_;  // the counts before the change, and the most that was away
  std::optional<MoveProgress> last_;
};

// Prints what it changed.
Result<void> change(const ScaleOptions& options) {
  const auto changed =
      ask_tier(options, "PUT", fmt::format(R"({{"replicas": {}}})", *options.replicas));
  if (!changed) return changed.error();
  const auto summary = scale_summary(*changed);
  if (!summary) return summary.error();
  std::fputs(summary->c_str(), stdout);
  return {};
}

}  // namespace

Result<void> run_scale(const ScaleOptions& options, const Clock& clock) {
  Watch watch;
  if (options.watch) {
    const auto before = ask_tier(options, "GET", "");
    if (!before) return before.error();
    const auto begun = watch.begin(*before, clock.steady_now());
    if (!begun) return begun.error();
  }
  if (options.replicas) {
    const auto changed = change(options);
    if (!changed) return changed.error();
  }
  std::string told;
  // A replica that leaves may take as long as `up`'s drain deadline, which it keeps itself.
  const SteadyPoint until = clock.steady_now() + limits::configured_wait_most;
  while (clock.steady_now() < until) {
    const auto state = ask_tier(options, "GET", "");
    if (!state) return state.error();
    auto awaited = scale_awaits(*state);
    if (!awaited) return awaited.error();
    bool has_moved = true;
    if (options.watch) {
      const auto looked = watch.look(*state, clock.steady_now());
      if (!looked) return looked.error();
      has_moved = *looked;
    }
    if (awaited->empty() && has_moved) {
      std::fputs(options.replicas ? "done       every component has the new topology\n"
                                  : "done       all lies where it belongs\n",
                 stdout);
      return {};
    }
    if (!awaited->empty() && *awaited != told) fmt::print("waiting    for {}\n", *awaited);
    std::fflush(stdout);
    told = *std::move(awaited);
    std::this_thread::sleep_for(limits::scale_poll);
  }
  return Error{ErrorKind::timeout, ErrorSource::peer, Retry::no,
               "it did not end; look at the log of `ringside up`"};
}

}  // namespace ringside::program
