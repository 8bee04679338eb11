#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/quotation.h"
#include "program/configuration_json.h"
#include "program/countries.h"
#include "program/discovery.h"
#include "program/front_page.h"
#include "program/log_page.h"
#include "program/plan_target.h"
#include "program/process.h"
#include "program/request_url.h"
#include "shard/topology_json.h"
#include "sidecar/purge.h"
#include "tier/membership_json.h"

// The admin pages that every process has. Handlers run on the admin server's threads.
namespace ringside::program {
namespace {

using http::AdminServer;
using nlohmann::ordered_json;

constexpr int bad_request = 400;
constexpr int not_found = 404;
constexpr int conflict = 409;
constexpr int misdirected = 421;
constexpr int internal_error = 500;
constexpr int unavailable = 503;

AdminServer::Answer text(int status, std::string body) {
  return {status, "text/plain; charset=utf-8", std::move(body)};
}

AdminServer::Answer json_answer(std::string body) {
  return {200, "application/json", std::move(body)};
}

AdminServer::Answer refuse(const Error& error) {
  const int status = error.kind == ErrorKind::refused         ? conflict
                     : error.kind == ErrorKind::invalid_input ? bad_request
                                                              : internal_error;
  return text(status, error.message + "\n");
}

// Normalising takes dot segments out of a path, which then begins otherwise: `/docs/..` is `/`.
bool ends_in_dots(std::string_view url) {
  std::string segment(url.substr(url.rfind('/') + 1));
  for (const std::string_view dot : {"%2e", "%2E"}) {
    for (auto at = segment.find(dot); at != std::string::npos; at = segment.find(dot)) {
      segment.replace(at, dot.size(), ".");
    }
  }
  return segment == "." || segment == "..";
}

}  // namespace

Result<http::PurgeTarget> parse_purge_request(std::string_view body) {
  using Scope = http::PurgeTarget::Scope;
  const auto document = parse_strict_json(body);
  if (!document) return document.error();
  const auto is = [&](const char* key) {
    return document->is_object() && document->size() == 1 && document->contains(key);
  };
  if (is("all") && (*document)["all"] == true) return http::PurgeTarget::all();
  const char* const key = is("prefix") ? "prefix" : "url";
  if (!is(key) || !(*document)[key].is_string()) {
    return invalid_input(
        R"(not what is asked for; write {"url": "http://HOST/PATH"}, {"prefix": "http://HOST/PATH"} )"
        R"(or {"all": true})");
  }
  const auto text = (*document)[key].get<std::string>();
  auto url = parse_request_url(text);
  if (!url || url->host.empty()) {
    return invalid_input(fmt::format(
        "{}: {} is no URL with a host, which is a part of what is stored; write http://HOST/PATH",
        key, quotation(text)));
  }
  const bool is_prefix = is("prefix");
  if (is_prefix && url->target.has_query) {
    return invalid_input(
        fmt::format("prefix: {} has a query; write the beginning of a path", quotation(text)));
  }
  if (is_prefix && ends_in_dots(text)) {
    return invalid_input(fmt::format(
        "prefix: {} ends in dots, which are no name; write one more letter", quotation(text)));
  }
  return http::PurgeTarget{is_prefix ? Scope::below : Scope::uri, std::move(url->host),
                           url->target.text()};
}

void Process::add_pages() {
  const auto on = [&](const char* method, const char* path, auto answer) {
    admin_.on(method, path, std::move(answer));
  };
  on("GET", "/", [this](const AdminServer::Request&) -> AdminServer::Answer {
    return {200, "text/html; charset=utf-8", front_page(service_.title(), invocation_.command)};
  });
  add_probes(admin_);
  add_probes(probes_);
  on("GET", "/metrics", [this](const AdminServer::Request&) -> AdminServer::Answer {
    return {200, std::string(metrics::exposition_content_type),
            metrics::expose(service_.totals(), figures())};
  });
  on("GET", "/config", [this](const AdminServer::Request&) {
    std::unique_lock lock(mutex_);
    Configuration shown = configuration_;
    lock.unlock();
    // `ringside scale` may have changed it.
    if (shown.replica_count) shown.replica_count = service_.membership()->size();
    return json_answer(to_json(invocation_.command, with_country_file(invocation_.command, shown)));
  });
  on("GET", "/topology", [this](const AdminServer::Request&) {
    return json_answer(tier::to_json(*service_.membership(), service_.self()));
  });
  on("GET", "/shards", [this](const AdminServer::Request&) {
    const auto topology = service_.membership()->topology;
    return json_answer(to_json(*topology, service_.stored_shards(*topology)));
  });
  on("POST", "/shards", [this](const AdminServer::Request& request) {
    const auto topology = read_topology(request.body);
    if (!topology) return refuse(topology.error());
    return json_answer(to_json(**topology, service_.stored_shards(**topology)));
  });
  on("PUT", "/topology",
     [this](const AdminServer::Request& request) { return put_topology(request.body); });
  on("POST", "/split", [this](const AdminServer::Request& request) { return split(request.body); });
  on("POST", "/purge", [this](const AdminServer::Request& request) { return purge(request.body); });
  if (access_log_ != nullptr) {
    on("POST", "/log", [this](const AdminServer::Request& request) {
      return answer_log(*access_log_, request.body);
    });
  }
  on("POST", "/drain", [this](const AdminServer::Request&) {
    drain();
    return text(200, drain_text());
  });
  service_.add_pages(admin_);
}

void Process::add_probes(AdminServer& server) {
  server.on_quick("GET", "/livez",
                  [](const AdminServer::Request&) { return text(200, "alive\n"); });
  // It takes locks that nobody holds while waiting for anything.
  server.on_quick("GET", "/readyz", [this](const AdminServer::Request&) { return readiness(); });
}

metrics::OperationFigures Process::figures() const {
  metrics::OperationFigures out;
  out.log_dropped = log::dropped();
  if (access_log_ != nullptr && access_log_->is_written()) {
    const auto log = access_log_->figures();
    out.access_log.emplace(
        metrics::OperationFigures::AccessLog{log.written, log.dropped, log.failures});
  }
  if (discovery_ != nullptr) {
    out.discovery = discovery_figures(discovery_->figures(), *service_.membership());
  }
  const std::lock_guard lock(mutex_);
  out.reloads_applied = reloads_applied_;
  out.reloads_refused = reloads_refused_;
  out.last_reload_successful = last_refusal_.empty();
  return out;
}

AdminServer::Answer Process::readiness() const {
  const std::string obstacle = draining_ ? "draining" : service_.not_ready();
  const MembershipPointer membership = service_.membership();
  std::string page = obstacle.empty() ? "ready\n" : fmt::format("not ready: {}\n", obstacle);
  fmt::format_to(std::back_inserter(page), "{} at {}\ntopology: version {}, id {}, {} replica{}\n",
                 service_.title(), service_.address().text(), membership->topology->version(),
                 membership->topology_id, membership->size(), membership->size() == 1 ? "" : "s");
  if (discovery_ != nullptr) {
    page += discovery_line(discovery_->source(), discovery_->figures(), clock_.now()) + "\n";
  }
  const bool has_state = !membership->topology->state().is_empty();
  if (keeper_ != nullptr && has_state) page += keeper_->line() + "\n";
  for (const std::string& line : service_.details()) page += line + "\n";
  const std::lock_guard lock(mutex_);
  fmt::format_to(std::back_inserter(page), "reloads: {} applied, {} refused\n", reloads_applied_,
                 reloads_refused_);
  if (!last_refusal_.empty()) page += "last refusal: " + last_refusal_ + "\n";
  return text(obstacle.empty() ? 200 : unavailable, std::move(page));
}

AdminServer::Answer Process::put_topology(std::string_view body) {
  const auto request = shard::parse_topology_json(body);
  if (!request) return text(bad_request, request.error().message + "\n");
  const auto membership = service_.propose(*request);
  if (!membership) return refuse(membership.error());
  return json_answer(tier::to_json(**membership, service_.self()));
}

AdminServer::Answer Process::split(std::string_view body) {
  std::unique_lock lock(mutex_);
  const Configuration configuration = configuration_;
  lock.unlock();
  if (!writes_state(configuration)) {
    const int status = configuration.state_writer ? misdirected : not_found;
    return text(status, not_ours_to_cut(configuration).message + "\n");
  }
  const auto request = parse_cut_request(body);
  if (!request) return refuse(request.error());
  const auto membership = service_.cut(*request);
  if (!membership) {
    if (keeper_ != nullptr) keeper_->look_again();  // somebody else may have been first
    return refuse(membership.error());
  }
  return json_answer(tier::to_json(**membership, service_.self()));
}

AdminServer::Answer Process::purge(std::string_view body) {
  const auto target = parse_purge_request(body);
  if (!target) return refuse(target.error());
  const PurgeResult result = service_.purge(*target);
  sidecar::log_purge(*target, {result.removed, result.missing}, "POST /purge");
  ordered_json page{{"removed", result.removed}, {"complete", result.missing.empty()}};
  if (!result.missing.empty()) page["missing"] = result.missing;
  if (const tier::Self self = service_.self(); !self.name.empty()) page["replica"] = self.name;
  if (result.removed == 0 && target->scope != http::PurgeTarget::Scope::everything) {
    page["hint"] = sidecar::why_nothing_was_purged(*target);
  }
  constexpr int bad_gateway = 502;
  return {result.missing.empty() ? 200 : bad_gateway, "application/json", page.dump() + "\n"};
}

}  // namespace ringside::program
