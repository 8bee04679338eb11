#include "replay/tier.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/limits.h"
#include "metrics/outcome.h"
#include "replay/scrape.h"

namespace ringside::replay {
namespace {

Error unexpected(std::string_view path, const http::AdminAnswer& answer) {
  if (path == "/scale" && answer.status == 404) {
    return Error{ErrorKind::malformed, ErrorSource::peer, Retry::no,
                 "the tier has no /scale: what answers at --admin is no `ringside up`"};
  }
  constexpr std::size_t shown_bytes = 300;
  std::string said = answer.body.substr(0, shown_bytes);
  while (said.ends_with('\n')) said.pop_back();
  return Error{ErrorKind::malformed, ErrorSource::peer, Retry::no,
               fmt::format("the tier's {} answered {}: {}", path, answer.status, said)};
}

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

}  // namespace

Result<TierFigures> figures_from_metrics(std::string_view exposition) {
  const auto scrape = Scrape::parse(exposition);
  if (!scrape) return scrape.error();
  TierFigures figures;
  const std::string family = "ringside_requests_total";
  for (std::size_t i = 0; i < metrics::outcome_count; ++i) {
    const auto outcome = static_cast<metrics::Outcome>(i);
    const auto count = whole(scrape->sum(
        family, {{"role", "sidecar"}, {"result", std::string(metrics::name(outcome))}}));
    figures.requests += count;
    if (metrics::is_hit(outcome)) figures.hits += count;
    if (outcome == metrics::Outcome::error) figures.errors += count;
  }
  if (scrape->has("ringside_origin_requests_total", {{"role", "cache"}})) {
    figures.fetches_by_metrics = whole(scrape->sum("ringside_origin_requests_total"));
  }
  return figures;
}

Tier Tier::at(const Endpoint& admin, const std::string& token) {
  return Tier(
      [admin, token](const std::string& method, const std::string& path, const std::string& body) {
        return http::ask_admin(admin, method, path, body, limits::admin_timeout, token);
      });
}

Result<TierFigures> Tier::figures() const {
  const auto metrics = ask_("GET", "/metrics", "");
  if (!metrics) return metrics.error();
  if (metrics->status != 200) return unexpected("/metrics", *metrics);
  auto figures = figures_from_metrics(metrics->body);
  if (!figures) return figures;
  const auto origin = ask_("GET", "/origin", "");
  if (!origin) return origin.error();
  if (origin->status == 404) return figures;  // the origin is not our sample
  const auto json = parse_strict_json(origin->body);
  if (origin->status != 200 || !json || !json->is_object() || !json->contains("requests") ||
      !(*json)["requests"].is_number_unsigned()) {
    return unexpected("/origin", *origin);
  }
  figures->fetches_by_origin = (*json)["requests"].get<std::uint64_t>();
  return figures;
}

Result<TierKey> Tier::key() const {
  const auto config = ask_("GET", "/config", "");
  if (!config) return config.error();
  if (config->status != 200) return unexpected("/config", *config);
  return tier_key_from(config->body);
}

Result<Tier::State> Tier::state() const {
  const auto answer = ask_("GET", "/scale", "");
  if (!answer) return answer.error();
  const auto json = parse_strict_json(answer->body);
  if (answer->status != 200 || !json || !json->is_object() || !json->contains("replicas") ||
      !(*json)["replicas"].is_number_unsigned() || !json->contains("settled") ||
      !(*json)["settled"].is_boolean()) {
    return unexpected("/scale", *answer);
  }
  return State{(*json)["replicas"].get<std::uint32_t>(), (*json)["settled"].get<bool>()};
}

Result<std::uint32_t> Tier::replicas() const {
  const auto now = state();
  if (!now) return now.error();
  return now->replicas;
}

Result<void> Tier::scale(std::uint32_t replicas) const {
  const auto answer = ask_("PUT", "/scale", nlohmann::json{{"replicas", replicas}}.dump());
  if (!answer) return answer.error();
  if (answer->status < 200 || answer->status > 299) return unexpected("/scale", *answer);
  return {};
}

Result<bool> Tier::settled(std::uint32_t replicas) const {
  const auto now = state();
  if (!now) return now.error();
  return now->settled && now->replicas == replicas;
}

}  // namespace ringside::replay
