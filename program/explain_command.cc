#include "program/explain_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json.h"

namespace ringside::program {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

Error no_explanation(std::string_view why) {
  return {ErrorKind::internal, ErrorSource::peer, Retry::no,
          fmt::format("the answer is no explanation: {}; is it the same release?", why)};
}

std::string text(const json& value) { return value.is_string() ? value.get<std::string>() : ""; }

std::string joined(const json& list, std::string_view separator) {
  std::string out;
  for (const json& one : list) out.append(out.empty() ? "" : separator).append(text(one));
  return out;
}

class Lines {
 public:
  void add(std::string_view label, std::string_view what) {
    fmt::format_to(std::back_inserter(text_), "{:<10} {}\n", label, what);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_client(const json& client, Lines& lines) {
  std::string who = text(client.at("address"));
  if (client.at("told_by").is_string()) {
    who += fmt::format(", by {} of {}", text(client.at("told_by")), text(client.at("peer")));
  }
  lines.add("client", who);
  std::string country = text(client.at("country"));
  const json& from = client.at("country_from");
  if (from == "database") {
    country += fmt::format(", by the first {} bits of the address in the database",
                           client.at("country_prefix_bits").get<unsigned>());
  } else {
    country +=
        from == "special" ? ": such an address is of no country" : ": there is no database (--geo)";
  }
  lines.add("country", country);
}

std::string owner_text(const json& owner) {
  const std::string state = text(owner.at("state"));
  return text(owner.at("name")) + (state == "in service" ? "" : " (" + state + ")");
}

void add_shard(const json& shard, Lines& lines) {
  lines.add("key", fmt::format("{}: {}{}", text(shard.at("parts")), text(shard.at("key")),
                               shard.at("is_fallback").get<bool>() ? " (the fallback)" : ""));
  lines.add("bucket", fmt::format("{} of scheme {}, topology version {}",
                                  shard.at("bucket").get<std::size_t>(), text(shard.at("scheme")),
                                  shard.at("topology_version").get<std::uint64_t>()));
  const json& owners = shard.at("owners");
  if (owners.empty()) return lines.add("owner", "(none)");
  std::string next;
  for (std::size_t i = 1; i < owners.size(); ++i) {
    next.append(i == 1 ? ", then " : ", ").append(owner_text(owners[i]));
  }
  lines.add("owner", owner_text(owners[0]) + next);
}

void add_stored(const json& replica, Lines& lines) {
  const json& stored = replica.at("stored");
  if (stored.is_null()) return lines.add("stored", "no");
  const auto left = stored.at("left_s").get<std::int64_t>();
  lines.add("stored", fmt::format("{}{}, {} s old, {} s by {}", stored.at("status").get<int>(),
                                  stored.at("whole").get<bool>() ? "" : " in part",
                                  stored.at("age_s").get<std::int64_t>(),
                                  left > 0 ? fmt::format("fresh for {}", left)
                                           : fmt::format("stale for {}", -left),
                                  text(stored.at("lifetime_by"))));
}

void add_question(const json& replica, Lines& lines) {
  const json& asks = replica.at("asks");
  if (asks.is_null()) {
    lines.add("origin",
              replica.at("refreshes").get<bool>() ? "asked meanwhile, to refresh it" : "not asked");
    return;
  }
  if (asks.at("holder_first").get<bool>()) {
    lines.add("holder", "another replica holds the bucket still, and is asked first");
  }
  lines.add("origin", fmt::format("{} {} of {}", text(asks.at("method")), text(asks.at("target")),
                                  joined(asks.at("origins"), " or ")));
  lines.add("", "Host: " + text(asks.at("host")));
  for (const json& field : asks.at("fields")) lines.add("", text(field));
  if (replica.at("may_be_stored").get<bool>()) {
    lines.add("to store", "if what the origin says allows it" +
                              (replica.at("not_stored_because").is_string()
                                   ? "; " + text(replica.at("not_stored_because"))
                                   : std::string()));
  } else {
    lines.add("to store", "no: " + text(replica.at("not_stored_because")));
  }
}

void add_replica(const json& page, Lines& lines) {
  for (const json& failure : page.at("asked_in_vain")) lines.add("in vain", text(failure));
  const json& near = page.at("near_cache");
  if (near.at("may_answer").get<bool>()) {
    lines.add("nearby", fmt::format("kept by {} of {} cores",
                                    near.at("cores_that_have_it").get<std::size_t>(),
                                    near.at("cores").get<std::size_t>()));
  }
  const json& replica = page.at("replica");
  if (replica.is_null()) return;
  lines.add("replica", text(replica.at("name")));
  lines.add("cache key", text(replica.at("cache_key")));
  add_stored(replica, lines);
}

}  // namespace

void add_explain_flags(CLI::App& app, ExplainOptions& out) {
  app.add_option("URL", out.url, "http://HOST[:PORT]/PATH, as clients ask for it")->required();
  app.add_option("--ip", out.ip, "Who asks (default 127.0.0.1)")->type_name("IP");
  app.add_option("-H,--header", out.headers, "'Name: value' of the request; may be given again")
      ->type_name("HEADER")
      ->allow_extra_args(false);
  app.add_flag("--head", out.head, "A HEAD in place of a GET");
  app.add_flag("--json", out.json, "JSON instead of lines");
}

Result<void> check_explain_flags(const ExplainOptions& options) {
  if (options.pages.addresses.size() == 1) return {};
  return invalid_input("--admin: ask one process, a sidecar or `ringside up`");
}

Result<std::string> explain_lines(const std::string& answer) {
  const auto parsed = parse_strict_json(answer);
  if (!parsed) return no_explanation(parsed.error().message);
  try {
    const json& page = *parsed;
    const json& verdict = page.at("verdict");
    Lines lines;
    lines.add("url", text(page.at("url")));
    add_client(page.at("client"), lines);
    const std::string route = text(page.at("route"));
    lines.add("route", route.empty() ? "(none)" : route);
    if (!text(page.at("shard").at("parts")).empty()) add_shard(page.at("shard"), lines);
    add_replica(page, lines);
    const std::string status =
        verdict.contains("status") ? fmt::format(" {}", verdict.at("status").get<int>()) : "";
    lines.add("verdict", fmt::format("{}{} by {}: {}", text(verdict.at("outcome")), status,
                                     text(verdict.at("by")), text(verdict.at("because"))));
    const json& replica = page.at("replica");
    const bool is_replicas = !replica.is_null() && verdict.at("by") == replica.at("name");
    if (is_replicas) {
      lines.add("", "Cache-Status: " + text(verdict.at("cache_status")));
      add_question(replica, lines);
    }
    return lines.take();
  } catch (const json::exception& failure) {
    return no_explanation(failure.what());
  }
}

Result<void> run_explain(const ExplainOptions& options) {
  ordered_json body{{"url", options.url}, {"method", options.head ? "HEAD" : "GET"}};
  if (!options.ip.empty()) body["ip"] = options.ip;
  if (!options.headers.empty()) body["headers"] = options.headers;
  const auto answer =
      ask_page(options.pages.addresses.front(), options.pages.token, "POST", "/explain",
               body.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  if (!answer) return answer.error();
  if (options.json) {
    fmt::print("{}", *answer);
    return {};
  }
  const auto lines = explain_lines(*answer);
  if (!lines) return lines.error();
  fmt::print("{}", *lines);
  return {};
}

}  // namespace ringside::program
