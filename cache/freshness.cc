#include "cache/freshness.h"

#include <algorithm>
#include <charconv>

#include "base/limits.h"
#include "http/date.h"

namespace ringside::cache {
namespace {

Seconds whole_seconds(std::chrono::system_clock::duration duration) noexcept {
  return std::chrono::duration_cast<Seconds>(duration);
}

// RFC 9111 §5.1: the first value of several; what is no number is ignored; too large is capped.
Seconds age_value(const http::Fields& fields) noexcept {
  const auto value = fields.first("age");
  if (!value) return Seconds{0};
  const auto first = http::trimmed(value->substr(0, value->find(',')));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), number);
  if (end != first.data() + first.size()) return Seconds{0};
  const auto most = static_cast<std::uint64_t>(limits::delta_seconds_most.count());
  if (error == std::errc::result_out_of_range || number > most) return limits::delta_seconds_most;
  return Seconds{error == std::errc{} ? number : 0};
}

}  // namespace

Freshness freshness_of(const http::Fields& fields, const http::ResponseDirectives& directives,
                       const ExchangeTimes& times) {
  Freshness out;
  out.received = times.received;
  out.no_cache = directives.no_cache;
  out.must_revalidate =
      directives.must_revalidate || directives.proxy_revalidate || directives.s_maxage.has_value();

  const auto date_field = fields.first("date");
  const auto date = date_field ? http::parse_date(*date_field, times.received) : std::nullopt;
  const Seconds apparent_age =
      date ? std::max(Seconds{0}, whole_seconds(times.received - *date)) : Seconds{0};
  const Seconds delay = whole_seconds(times.received - times.requested);
  out.initial_age = std::max(apparent_age, age_value(fields) + delay);

  if (directives.s_maxage) {
    out.lifetime = *directives.s_maxage;
    out.has_explicit_lifetime = true;
  } else if (directives.max_age) {
    out.lifetime = *directives.max_age;
    out.has_explicit_lifetime = true;
  } else if (const auto expires_field = fields.first("expires")) {
    // §5.3: an invalid date, "0" above all, means already expired.
    const auto expires = http::parse_date(*expires_field, times.received);
    out.lifetime =
        expires ? std::max(Seconds{0}, whole_seconds(*expires - date.value_or(times.received)))
                : Seconds{0};
    out.has_explicit_lifetime = true;
  }
  return out;
}

Seconds age(const Freshness& freshness, TimePoint now) noexcept {
  return freshness.initial_age + std::max(Seconds{0}, whole_seconds(now - freshness.received));
}

Seconds time_to_live(const Freshness& freshness, TimePoint now) noexcept {
  return freshness.lifetime - age(freshness, now);
}

Verdict judge(const Freshness* stored, const http::RequestDirectives& request,
              TimePoint now) noexcept {
  if (stored == nullptr) return Verdict::absent;
  if (request.no_cache || stored->no_cache) return Verdict::must_validate;
  const Seconds current_age = age(*stored, now);
  const Seconds left = stored->lifetime - current_age;
  if (request.max_age && current_age > *request.max_age) return Verdict::must_validate;
  if (request.min_fresh && left < *request.min_fresh) return Verdict::must_validate;
  if (left > Seconds{0}) return Verdict::fresh;
  if (!stored->must_revalidate && request.max_stale && -left <= *request.max_stale) {
    return Verdict::stale;
  }
  return Verdict::must_validate;
}

}  // namespace ringside::cache
