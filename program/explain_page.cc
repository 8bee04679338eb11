#include "program/explain_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "http/error_response.h"
#include "http1/head_parser.h"
#include "metrics/outcome.h"
#include "program/key_text.h"
#include "program/request_url.h"
#include "program/shard_report.h"

namespace ringside::program {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using sidecar::Explanation;
using Standing = sidecar::HealthWatch::Standing;

constexpr std::string_view expected_form =
    R"(write {"url": "http://HOST/PATH", "ip": "ADDRESS", "headers": ["Name: value"]})";

bool is_form(const json& document) {
  constexpr std::array<std::string_view, 4> keys = {"url", "method", "ip", "headers"};
  if (!document.is_object() || !document.contains("url")) return false;
  for (const auto& [key, value] : document.items()) {
    const bool is_list =
        key == "headers" && value.is_array() &&
        std::all_of(value.begin(), value.end(), [](const json& line) { return line.is_string(); });
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) return false;
    if (key == "headers" ? !is_list : !value.is_string()) return false;
  }
  return true;
}

// The request as a client sends it.
Result<std::string> text_of(const json& document, std::string_view method) {
  const auto url = parse_request_url(document["url"].get<std::string>());
  if (!url) return invalid_input("url: " + url.error().message);
  if (url->host.empty()) {
    return invalid_input(
        "url: it has no host, which is a part of what is stored; write "
        "http://HOST/PATH");
  }
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", method, url->target.text(), url->host);
  for (const json& line : document.value("headers", json::array())) {
    const auto header = parse_header(line.get<std::string>());
    if (!header) return header.error();
    if (header->second.find_first_of("\r\n") != std::string::npos) {
      return invalid_input("headers: write one line for each");
    }
    fmt::format_to(std::back_inserter(text), "{}: {}\r\n", header->first, header->second);
  }
  return text + "\r\n";
}

Result<void> check(const http::RequestHead& head) {
  if (head.framing.kind != http::Framing::Kind::none) {
    return invalid_input("a request with content is passed on to the origin; leave it out");
  }
  if (head.fields.has("upgrade")) {
    return invalid_input(
        "a request for another protocol is passed on to the origin; leave "
        "Upgrade out");
  }
  return {};
}

std::string_view name(Standing standing) noexcept {
  switch (standing) {
    case Standing::in_service:
      return "in service";
    case Standing::returning:
      return "returning";
    case Standing::ejected:
      return "ejected";
    case Standing::not_ready:
      return "not ready";
    case Standing::unproven:
      return "unproven";
    case Standing::nowhere:
      return "nowhere";
  }
  return "";
}

ordered_json client_of(const Explanation& told) {
  ordered_json out{{"address", told.client.text()},
                   {"peer", told.peer.text()},
                   {"peer_is_trusted", told.peer_is_trusted},
                   {"told_by", nullptr},
                   {"scheme", name(told.scheme)},
                   {"country", told.country.code()},
                   {"country_from", nullptr},
                   {"country_prefix_bits", nullptr}};
  if (!told.client_told_by.empty()) out["told_by"] = told.client_told_by;
  if (told.client.is_special()) {
    out["country_from"] = "special";  // loopback, private and the like: of no country
  } else if (told.country_prefix_bits) {
    // The database counts in 128 bits; an IPv4 address has the last 32 of them.
    const unsigned before = told.client.is_v4() ? 96 : 0;
    out["country_from"] = "database";
    out["country_prefix_bits"] =
        *told.country_prefix_bits - std::min(*told.country_prefix_bits, before);
  }
  return out;
}

ordered_json key_of(const Explanation& told) {
  ordered_json out{{"parts", told.keyed_by},
                   {"is_fallback", told.is_fallback},
                   {"key", key_text(told.shard_key)},
                   {"hash", fmt::format("{:016x}", told.hash)},  // 64 bits are too many for JSON
                   {"bucket", told.bucket},
                   {"scheme", told.scheme_name},
                   {"topology_version", told.topology_version},
                   {"topology_id", told.topology_id},
                   {"owners", ordered_json::array()}};
  for (const auto& owner : told.owners) {
    out["owners"].push_back({{"name", owner.name}, {"state", name(owner.standing)}});
  }
  return out;
}

ordered_json verdict(std::string_view outcome, std::string_view by, std::string_view because) {
  return {{"outcome", outcome}, {"by", by},           {"because", because},
          {"cache_status", ""}, {"is_stored", false}, {"is_fresh", nullptr},
          {"age_s", nullptr},   {"left_s", nullptr},  {"asks_origin", false}};
}

ordered_json failed(const Explanation& told, const Error& failure) {
  auto out = verdict(metrics::name(metrics::Outcome::error), told.sidecar, failure.message);
  out["status"] = http::answer_for(failure).status;
  return out;
}

// What the replica told, as its own verdict.
ordered_json replicas(const Explanation& told, const json& replica) {
  auto out = verdict(replica.at("outcome").get<std::string>(), told.answered_by,
                     replica.at("because").get<std::string>());
  out["cache_status"] = replica.at("cache_status");
  out["asks_origin"] = !replica.at("asks").is_null();
  const json& stored = replica.at("stored");
  if (stored.is_null()) return out;
  out["is_stored"] = true;
  out["is_fresh"] = stored.at("fresh");
  out["age_s"] = stored.at("age_s");
  out["left_s"] = stored.at("left_s");
  return out;
}

ordered_json verdict_of(const Explanation& told, const json& replica) {
  if (told.near.holders > 0 && told.near.holders == told.near.cores) {
    auto out =
        verdict(metrics::name(metrics::Outcome::hit), told.sidecar, "it is kept in the near cache");
    out["cache_status"] = told.sidecar + "; hit";
    return out;
  }
  if (told.failure) return failed(told, *told.failure);
  if (told.asks_origin) {
    auto out = verdict(metrics::name(metrics::Outcome::miss), told.sidecar,
                       "no replica can be asked, and --without-replica says that the origin is");
    out["asks_origin"] = true;
    return out;
  }
  if (told.replica_status != 200) {
    auto out =
        verdict(metrics::name(metrics::Outcome::error), told.answered_by, told.replica_detail);
    out["status"] = told.replica_status;
    return out;
  }
  return replicas(told, replica);
}

}  // namespace

Result<sidecar::ExplainedRequest> parse_explain_request(std::string_view body) {
  const auto document = parse_strict_json(body);
  if (!document) return document.error();
  if (!is_form(*document))
    return invalid_input(fmt::format("not what is asked for; {}", expected_form));
  const auto method = document->value("method", std::string("GET"));
  if (method != "GET" && method != "HEAD") {
    return invalid_input("method: GET and HEAD are explained; all others go to the origin");
  }
  const auto peer = IpAddress::parse(document->value("ip", std::string("127.0.0.1")));
  if (!peer) return invalid_input("ip: " + peer.error().message);
  const auto text = text_of(*document, method);
  if (!text) return text.error();
  http::RequestHead head;
  const auto parsed = http::parse_request_head(*text, http::HeadLimits::defaults(), head);
  if (!parsed) return invalid_input("the request: " + parsed.error().message);
  if (auto checked = check(head); !checked) return checked.error();
  sidecar::ExplainedRequest request;
  request.request = std::make_shared<const http::KeptRequest>(head);
  request.peer = *peer;
  const bool is_https = document->at("url").get_ref<const std::string&>().starts_with("https:");
  request.scheme = is_https ? http::Scheme::https : http::Scheme::http;
  return request;
}

std::string to_json(const Explanation& told) {
  json replica;
  if (!told.replica_page.empty()) {
    if (auto page = parse_strict_json(told.replica_page)) replica = *std::move(page);
  }
  ordered_json page;
  page["url"] = fmt::format("{}://{}{}", name(told.scheme), told.host, told.target);
  page["client"] = client_of(told);
  page["route"] = told.route;
  page["shard"] = key_of(told);
  page["near_cache"] = {{"may_answer", told.near.may_be_given},
                        {"cores", told.near.cores},
                        {"cores_that_have_it", told.near.holders}};
  page["asked_in_vain"] = told.in_vain;
  page["replica"] = replica;
  try {
    page["verdict"] = verdict_of(told, replica);
  } catch (const json::exception&) {
    page["replica"] = nullptr;
    page["verdict"] = failed(
        told, Error{ErrorKind::malformed, ErrorSource::peer, Retry::no,
                    told.answered_by + " does not explain itself; is it of the same release?"});
  }
  return page.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void ExplainPage::serve(http::AdminServer& server, sidecar::Sidecar& sidecar) {
  server.on("POST", "/explain", [this, &sidecar](const http::AdminServer::Request& request) {
    return answer(sidecar, request.body);
  });
}

void ExplainPage::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

http::AdminServer::Answer ExplainPage::answer(sidecar::Sidecar& sidecar, std::string_view body) {
  constexpr int bad_request = 400;
  constexpr int unavailable = 503;
  auto request = parse_explain_request(body);
  const std::string text_type = "text/plain; charset=utf-8";
  if (!request) return {bad_request, text_type, request.error().message + "\n"};
  // It may wait for a replica: the other pages are not kept waiting by those who ask meanwhile.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {unavailable, text_type, "another request is being explained; ask again\n"};
  if (stopped_) return {unavailable, text_type, "this sidecar has stopped\n"};
  const auto told = std::make_shared<std::promise<Explanation>>();
  sidecar.explain(*std::move(request),
                  [told](Explanation explanation) { told->set_value(std::move(explanation)); });
  return {200, "application/json", to_json(told->get_future().get())};
}

}  // namespace ringside::program
