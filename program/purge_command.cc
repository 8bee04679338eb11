#include "program/purge_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json.h"
#include "program/quantities.h"

namespace ringside::program {
namespace {

constexpr int all_purged = 200;
constexpr int bad_gateway = 502;  // somebody did not confirm it; the body is of the same form

Error no_purge_answer(std::string_view why) {
  return {ErrorKind::internal, ErrorSource::peer, Retry::no,
          fmt::format("the answer is none of a purge: {}; is it the same release?", why)};
}

Result<void> purge(const PurgeOptions& options, const std::string& body, const std::string& what) {
  Result<void> done;
  for (const Endpoint& address : options.pages.addresses) {
    const auto answer =
        ask_page(address, options.pages.token, "POST", "/purge", body, {all_purged, bad_gateway});
    if (!answer) return answer.error();
    const auto line = purge_line(*answer, what);
    if (line) fmt::print("{}", *line);
    if (!line && done) done = line.error();
  }
  return done;
}

}  // namespace

void add_purge_flags(CLI::App& app, PurgeOptions& out) {
  CLI::Option* const urls =
      app.add_option("URL", out.urls, "http://HOST[:PORT]/PATH, as clients ask for it");
  CLI::Option* const all = app.add_flag("--all", out.all, "Everything that is stored");
  all->excludes(urls);
  app.add_flag("--prefix", out.prefix, "All URLs that begin with one of these")->excludes(all);
}

Result<void> check_purge_flags(const PurgeOptions& options) {
  if (!options.urls.empty() || options.all) return {};
  return invalid_input("what? Give http://HOST[:PORT]/PATH, or --all for everything");
}

Result<std::string> purge_line(const std::string& answer, const std::string& what) {
  const auto page = parse_strict_json(answer);
  if (!page) return no_purge_answer(page.error().message);
  try {
    const auto removed = page->at("removed").get<std::size_t>();
    if (!page->at("complete").get<bool>()) {
      const auto missing = page->at("missing").get<std::vector<std::string>>();
      return Error{ErrorKind::refused, ErrorSource::peer, Retry::no,
                   fmt::format("{}: {} removed, and not confirmed by {}", what, grouped(removed),
                               fmt::join(missing, "; "))};
    }
    std::string line = fmt::format("removed    {} of {}\n", grouped(removed), what);
    if (page->contains("replica")) {
      line += fmt::format("           At {} alone; a sidecar's admin page tells all replicas\n",
                          page->at("replica").get<std::string>());
    }
    if (page->contains("hint")) {
      line += fmt::format("           {}\n", page->at("hint").get<std::string>());
    }
    return line;
  } catch (const nlohmann::json::exception& failure) {
    return no_purge_answer(failure.what());
  }
}

Result<void> run_purge(const PurgeOptions& options) {
  if (options.all) return purge(options, R"({"all": true})", "everything");
  for (const std::string& url : options.urls) {
    const auto body = nlohmann::json{{options.prefix ? "prefix" : "url", url}}.dump();
    auto purged = purge(options, body, options.prefix ? "all that begins with " + url : url);
    if (!purged) return purged;
  }
  return {};
}

}  // namespace ringside::program
