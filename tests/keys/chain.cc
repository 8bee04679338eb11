#include "tests/keys/chain.h"

#include <utility>

#include "base/address.h"
#include "cache/messages.h"
#include "cache/request_context.h"
#include "http/vary.h"
#include "http1/head_parser.h"
#include "sidecar/decision.h"
#include "sidecar/messages.h"
#include "sidecar/shard_decision.h"
#include "tier/membership.h"

namespace ringside::keys {
namespace {

struct RouteOf {
  std::string_view path;
  std::string_view shard_key;
  std::string_view regex = {};
  http::RequestConditions conditions = {};
};

const RouteOf kRoutes[] = {
    {"/", "country,path"},
    {"/static", "path"},
    {"/account", "country,path,query"},
    {"/cookie", "path,cookie:lang"},
    {"/header", "path,header:x-plan"},
    {"/id", "id:2"},
    {"/user/{id}/page", "id:{id},header:x-plan"},
    {"/case", "path"},
    {"/case", "country,path", {}, {{"POST"}, {}, {}}},
    {"/case", "host", {}, {{"GET"}, {{"x-plan", "free", {}}}, {}}},
    {"/case", "path", {}, {{}, {{"x-theme", {}, {}}}, {}}},
    {"/case", "country,path", {}, {{}, {}, {{"beta", {}, {}}}}},
    {"/case", "query", "/case/[a-z]+", {}},
};

std::string head_of(std::string_view method, const http::Target& target, std::string_view host,
                    const http::FieldLines& fields) {
  std::string out(method);
  out.append(" ").append(target.text()).append(" HTTP/1.1\r\nHost: ").append(host).append("\r\n");
  return out.append(fields.text()).append("\r\n");
}

Result<void> parse(const std::string& text, http::RequestHead& head) {
  return http::parse_request_head(text, http::HeadLimits::defaults(), head);
}

}  // namespace

const std::vector<std::string>& vary() {
  static const std::vector<std::string> names = {"accept-encoding", "accept-language", "x-theme"};
  return names;
}

Chain::Chain() {
  std::vector<http::RouteMatch> matches;
  std::vector<http::PathRules> paths;
  for (const RouteOf& row : kRoutes) {
    http::RouteMatch& match = matches.emplace_back();
    match.path_prefix = row.path;
    match.conditions = row.conditions;
    if (!row.regex.empty()) match.path_regex = *http::Regex::make(row.regex);
    paths.push_back({true, true, true});
    sidecar::Route asked;
    asked.name = "route-" + std::to_string(matches.size());
    asked.match = match;
    asked.key = *sidecar::located(*shard::KeySpec::parse(row.shard_key), row.path);
    asked.key_fallback = shard::KeySpec::country_and_path();
    cache_.routes.push_back({asked.name, match, {}, {}});
    sidecar_.routes.push_back(std::move(asked));
  }
  sidecar_.route_table = *http::RouteTable::make(matches, paths);
  cache_.route_table = sidecar_.route_table;
  sidecar_.membership = *tier::make_membership({}, "ring", 1);
  sidecar_.trusted = {*Network::parse("10.0.0.0/8")};
}

std::optional<Passed> Chain::pass(const std::string& text, std::string_view client) {
  http::RequestHead head;
  if (!parse(text, head)) return std::nullopt;
  sidecar::Decision decision;
  const auto decided =
      sidecar::decide(head, *IpAddress::parse(client), sidecar_, "front (1)", countries_, decision);
  if (!decided || decision.hop.answer_here) return std::nullopt;
  http::FieldLines fields;
  sidecar::write_upstream_fields(fields, head, decision, sidecar_, "front (1)",
                                 sidecar::Upstream::replica);
  const std::string between = head_of(decision.method, decision.target, decision.host, fields);

  http::RequestHead inner;
  if (!parse(between, inner)) return std::nullopt;
  cache::RequestContext context;
  if (!cache::read_context(inner, cache_, "cache (1)", IpAddress{}, context)) return std::nullopt;
  cache::Asking asking;
  asking.fills = context.may_fill_store;
  cache::write_origin_fields(fields, inner, context, cache_, "cache (1)", asking);

  Passed out;
  out.key = context.key.text + "\n" + http::variant_key(vary(), inner.fields);
  out.shard_key = decision.shard_key;
  out.route = static_cast<std::size_t>(context.route - cache_.routes.data());
  out.sidecars_route = static_cast<std::size_t>(decision.route - sidecar_.routes.data());
  out.may_share = context.may_use_store || context.may_fill_store;
  out.origin_head = head_of(context.method, context.target, context.host, fields);
  return out;
}

const std::string& Chain::path_of(std::size_t route) const {
  return cache_.routes[route].match.path_prefix;
}

}  // namespace ringside::keys
