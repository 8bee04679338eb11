#include "cache/invalidation.h"

#include "http/internal_fields.h"
#include "http/invalidation.h"
#include "http/target.h"

namespace ringside::cache {
namespace {

std::size_t invalidate_uri(Shared& shared, const Settings& settings, std::string_view host,
                           std::string_view path_and_query) {
  const auto stored = stored_path_and_query(settings, host, path_and_query);
  return stored ? invalidate_shared(shared, key_of_uri(host, *stored)) : 0;
}

}  // namespace

std::size_t invalidate_uris(Shared& shared, const Settings& settings, std::string_view host,
                            const std::vector<std::string>& targets) {
  std::size_t removed = 0;
  for (const std::string& target : targets) {
    removed += invalidate_uri(shared, settings, host, target);
  }
  return removed;
}

std::optional<std::string> stored_path_and_query(const Settings& settings, std::string_view host,
                                                 std::string_view path_and_query) {
  http::Target target;
  if (!http::normalise_target(path_and_query, target)) return std::nullopt;
  const auto route = settings.route_table.find_canonical(host, target);
  if (!route) return std::nullopt;
  if (*route) settings.routes[(*route)->index].rules.query.apply_to(target);
  return target.text();
}

std::vector<std::string> invalidate_after(Shared& shared, const Settings& settings,
                                          const RequestContext& context,
                                          const http::ResponseHead& response, SteadyPoint now) {
  auto targets = http::invalidated_targets(context.method, context.host, context.target,
                                           response.status, response.fields);
  if (!targets.empty() && context.from_sidecar) shared.purges.begin_unnumbered(now);
  invalidate_uris(shared, settings, context.host, targets);
  return targets;
}

std::optional<std::size_t> invalidate_told(Shared& shared, const Settings& settings,
                                           const http::RequestHead& request,
                                           const std::optional<tier::PurgeNumber>& purge,
                                           SteadyPoint now) {
  std::string host;
  const bool is_told = purge || request.fields.has(http::internal::invalidate);
  if (!is_told || !http::normalise_host(request.host, host)) {
    return std::nullopt;
  }
  const PurgeLog::Applying applying(shared.purges, purge, now);
  const bool is_of_own = !request.fields.has(http::internal::invalidate);
  if (is_of_own) shared.purges.number_is_told();
  std::size_t removed = 0;
  for (const http::Field& field : request.fields) {
    if (!http::same_token(field.name, http::internal::invalidate)) continue;
    removed += invalidate_uri(shared, settings, host, field.value);
  }
  return removed;
}

}  // namespace ringside::cache
