#include "cache/explanation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cache/fetch_plan.h"
#include "cache/messages.h"
#include "cache/sliced_body.h"
#include "http/field_lines.h"

namespace ringside::cache {
namespace {

std::string_view words(StoreObjection objection) noexcept {
  switch (objection) {
    case StoreObjection::none:
      return "nothing forbids it";
    case StoreObjection::method:
      return "only the answer to a GET is stored";
    case StoreObjection::content:
      return "the request has content";
    case StoreObjection::upgrade:
      return "the request asks for another protocol";
    case StoreObjection::bypass_rule:
      return "the route's bypass";
    case StoreObjection::condition:
      return "the request's If-Match or If-Unmodified-Since, which is the origin's to judge";
    case StoreObjection::no_store:
      return "no-store of the request";
    case StoreObjection::no_store_rule:
      return "the route's no_store";
    case StoreObjection::ranges:
      return "the request asks for several ranges";
    case StoreObjection::if_range:
      return "the request's If-Range, which is the origin's to judge";
  }
  return "";
}

std::string_view words(LifetimeBy by) noexcept {
  switch (by) {
    case LifetimeBy::nobody:
      return "nobody";
    case LifetimeBy::s_maxage:
      return "s-maxage of the response";
    case LifetimeBy::max_age:
      return "max-age of the response";
    case LifetimeBy::expires:
      return "Expires of the response";
    case LifetimeBy::ttl_by_status:
      return "ttl_by_status of the route";
    case LifetimeBy::default_ttl:
      return "default_ttl of the route";
    case LifetimeBy::heuristic:
      return "the heuristic of RFC 9111, from its Last-Modified";
  }
  return "";
}

// Where the route says something else by now than when the response was stored.
std::string_view words(LifetimeSource source) noexcept {
  switch (source) {
    case LifetimeSource::none:
      return "nobody";
    case LifetimeSource::origin:
      return "the response";
    case LifetimeSource::rule:
      return "the route, as it was";
    case LifetimeSource::heuristic:
      return "its Last-Modified";
  }
  return "";
}

std::string_view lifetime_by(const StoredHead& head, const Rules& rules) {
  const Freshness& freshness = head.freshness();
  const auto directives = effective_directives(head.fields(), rules);
  const auto by = lifetime_by(FreshnessInput{
      head.status(), head.fields(), directives, {freshness.received, freshness.received}, rules});
  return source_of(by) == freshness.source ? words(by) : words(freshness.source);
}

// What forbids to give it once it is stale (is_never_stale).
std::string_view never_stale_by(const http::ResponseDirectives& said) noexcept {
  if (said.must_revalidate) return "must-revalidate";
  if (said.proxy_revalidate) return "proxy-revalidate";
  return "s-maxage";
}

std::string seconds(std::optional<Seconds> value) {
  return fmt::to_string(value.value_or(Seconds{0}).count());
}

// Why what is stored may be given as it is, or not.
std::string because_of(const StoredHead& head, const Explained& explained, Grounds grounds) {
  const Rules& rules = explained.context.rules();
  const http::RequestDirectives& asked = explained.context.directives;
  const Freshness& freshness = head.freshness();
  const auto said = effective_directives(head.fields(), rules);
  const Seconds left = time_to_live(freshness, explained.now);
  switch (grounds) {
    case Grounds::nothing:
      return "nothing is stored";
    case Grounds::request_no_cache:
      return "no-cache of the request";
    case Grounds::response_no_cache:
      return "no-cache of the response: the origin is to confirm it each time";
    case Grounds::request_max_age:
      return fmt::format("max-age={} of the request: it is {} s old", seconds(asked.max_age),
                         age(freshness, explained.now).count());
    case Grounds::request_min_fresh:
      return fmt::format("min-fresh={} of the request: it is fresh for {} s more",
                         seconds(asked.min_fresh), left.count());
    case Grounds::lifetime:
      return fmt::format("it is fresh for {} s more, by {}", left.count(),
                         lifetime_by(head, rules));
    case Grounds::request_max_stale:
      return fmt::format("it is stale for {} s, and max-stale of the request takes it",
                         -left.count());
    case Grounds::stale_while_revalidate:
      return fmt::format("it is stale for {} s, within stale-while-revalidate={} of the {}",
                         -left.count(), seconds(freshness.stale_while_revalidate),
                         said.stale_while_revalidate ? "response" : "route");
    case Grounds::never_stale:
      return fmt::format("it is stale for {} s, and {} of the response forbids to give it so",
                         -left.count(), never_stale_by(said));
    case Grounds::stale:
      return fmt::format("it is stale for {} s; its lifetime was given by {}", -left.count(),
                         lifetime_by(head, rules));
  }
  return "";
}

Explanation::Stored stored_of(const StoredResponse& stored, const Explained& explained) {
  const StoredHead& head = *stored.head;
  return {head.status(), age(head.freshness(), explained.now),
          time_to_live(head.freshness(), explained.now),
          std::string(lifetime_by(head, explained.context.rules())), !stored.extent};
}

// Nothing of what is stored can be given.
std::string because_nothing_fits(const Explained& explained) {
  if (explained.is_emptied_first) return "a purge was missed: the store is emptied first";
  if (explained.found.vary.empty()) return "nothing is stored under this key";
  std::string names;
  for (const std::string& name : explained.found.vary) {
    names.append(names.empty() ? "" : ", ").append(name);
  }
  return fmt::format("only other variants are stored, and the response varies on {}", names);
}

std::string because(const Explained& explained) {
  if (!explained.context.may_use_store) return std::string(words(explained.context.objection));
  const StoredPointer& stored = explained.found.response;
  if (!stored) return because_nothing_fits(explained);
  const StoredHead& head = *stored->head;
  const auto judged = judgement(&head.freshness(), explained.context.directives, explained.now);
  std::string text = because_of(head, explained, judged.grounds);
  const bool may_be_given = judged.verdict != Verdict::must_validate;
  const bool lacks_part = may_be_given && explained.decision.step != Step::give &&
                          explained.decision.step != Step::give_and_refresh &&
                          !explained.slices.has_beginning;
  if (lacks_part) return "only a part is stored, and not the one that is wanted";
  if (explained.asked != explained.context.directives) {
    text += "; client_no_cache of the route: what the request says of age is not heeded";
  }
  return text;
}

Explanation::Question question_of(const Explained& explained, const Asking& asking) {
  const RequestContext& context = explained.context;
  Explanation::Question question;
  question.goes_to_holder = explained.is_held_elsewhere;
  for (const net::Origin& origin : context.route->origins) {
    const UpstreamAddress& address = origin.address;
    question.origins.push_back((address.tls ? "https://" : "http://") + address.endpoint.text());
  }
  question.method = context.method;
  question.target = context.target.text();
  question.host = context.host;
  http::FieldLines lines;
  write_origin_fields(lines, explained.request, context, explained.settings, explained.own_via,
                      asking);
  for (const http::Field& field : http::fields_of(lines.text())) {
    question.fields.push_back(fmt::format("{}: {}", field.name, field.value));
  }
  return question;
}

// It is asked for by condition, so that the origin may answer 304.
bool may_be_confirmed(const FetchPlan& plan) {
  if (!validates(plan)) return false;
  const http::Fields& fields = plan.validated->head->fields();
  return fields.has("etag") || fields.has("last-modified");
}

void add_fetch(const Explained& explained, Explanation& out) {
  if (explained.without_slices == WithoutSlices::passed_on) {
    out.outcome = metrics::Outcome::miss;
    out.asks = question_of(explained, Asking{});
    return;
  }
  const FetchPlan plan =
      plan_explained(explained.context, explained.found.response, explained.without_slices);
  out.asks = question_of(explained, asking_of(plan));
  out.outcome = may_be_confirmed(plan) ? metrics::Outcome::revalidated : metrics::Outcome::miss;
  const bool is_shared = explained.is_fetched_already && !explained.uncacheable;
  if (is_shared) out.outcome = metrics::Outcome::collapsed;
  if (explained.uncacheable) {
    const auto why = explained.uncacheable->why;
    out.not_stored_because = fmt::format("the last answer for it could not be stored{}{}",
                                         why ? ": " : "", why ? name(*why) : "");
  }
}

metrics::Outcome given(Verdict verdict) noexcept {
  return verdict == Verdict::fresh ? metrics::Outcome::hit : metrics::Outcome::stale;
}

// From where they begin in the store; the first that is missing is asked for.
void tell_slices(const Explained& explained, Explanation& out) {
  RequestContext context = explained.context;
  const Freshness& freshness = explained.found.response->head->freshness();
  const Verdict verdict = judge(&freshness, context.directives, explained.now);
  out.outcome = given(verdict);
  out.is_refreshed = is_refresh_due(context, freshness, verdict, explained.now);
  const auto& missing = explained.slices.missing;
  if (!missing) return;
  context.ranges = only(*missing);
  const FetchPlan plan = plan_fetch(context, nullptr);
  out.asks = question_of(explained, asking_of(plan));
}

}  // namespace

FetchPlan plan_explained(const RequestContext& context, const StoredPointer& stored,
                         WithoutSlices without_slices) {
  if (without_slices != WithoutSlices::no) return plan_fetch(context, stored);
  RequestContext first_slice = context;
  first_slice.ranges = only({0, context.rules().slice_size_bytes - 1});
  return plan_fetch(first_slice, stored);
}

Explanation explain(const Explained& explained) {
  const RequestContext& context = explained.context;
  const StoredPointer& stored = explained.found.response;
  Explanation out;
  out.route = context.route->name;
  out.key = readable(context.key);
  out.because = because(explained);
  out.may_be_stored = context.may_fill_store;
  if (!out.may_be_stored) out.not_stored_because = words(context.objection);
  if (stored) out.stored = stored_of(*stored, explained);
  http::CacheStatus status = explained.status;
  const bool begins_in_slices = explained.decision.step == Step::fetch_slices &&
                                explained.slices.has_beginning && !is_untagged(stored);
  switch (explained.decision.step) {
    case Step::give:
    case Step::give_and_refresh:
      out.is_refreshed = explained.decision.step == Step::give_and_refresh;
      out.outcome = given(explained.decision.verdict);
      status.hit = true;
      break;
    case Step::refuse:
      out.because =
          explained.is_held_elsewhere
              ? "only-if-cached of the request: the bucket's holder is asked, and nobody else"
              : "only-if-cached of the request, and nothing that is stored may be given";
      break;
    case Step::pass_on:
      out.outcome = metrics::Outcome::bypass;
      out.asks = question_of(explained, Asking{});
      out.asks->goes_to_holder = out.asks->goes_to_holder && context.may_use_store && !stored;
      break;
    case Step::fetch:
    case Step::fetch_slices:
      if (!begins_in_slices) {
        add_fetch(explained, out);
        break;
      }
      tell_slices(explained, out);
      status.hit = true;
      break;
  }
  if (status.hit) {
    status.forward = http::CacheStatus::Forward::none;
    status.ttl_seconds = out.stored->left.count();
  }
  http::append_cache_status(out.cache_status, status);
  return out;
}

std::string to_json(const Explanation& explanation, const std::string& replica) {
  using nlohmann::ordered_json;
  ordered_json page{{"name", replica},
                    {"route", explanation.route},
                    {"cache_key", explanation.key},
                    {"outcome", metrics::name(explanation.outcome)},
                    {"cache_status", explanation.cache_status},
                    {"because", explanation.because},
                    {"stored", nullptr},
                    {"refreshes", explanation.is_refreshed},
                    {"may_be_stored", explanation.may_be_stored},
                    {"not_stored_because", nullptr},
                    {"asks", nullptr}};
  if (!explanation.not_stored_because.empty()) {
    page["not_stored_because"] = explanation.not_stored_because;
  }
  if (const auto& stored = explanation.stored) {
    page["stored"] = {{"status", stored->status},           {"fresh", stored->left > Seconds{0}},
                      {"age_s", stored->age.count()},       {"left_s", stored->left.count()},
                      {"lifetime_by", stored->lifetime_by}, {"whole", stored->is_whole}};
  }
  if (const auto& asks = explanation.asks) {
    page["asks"] = {{"holder_first", asks->goes_to_holder},
                    {"origins", asks->origins},
                    {"method", asks->method},
                    {"target", asks->target},
                    {"host", asks->host},
                    {"fields", asks->fields}};
  }
  return page.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace ringside::cache
