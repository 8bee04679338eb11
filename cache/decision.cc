#include "cache/decision.h"

#include "base/hash.h"
#include "cache/messages.h"
#include "cache/selection.h"
#include "cache/update.h"
#include "http/byte_range.h"
#include "http/conditional.h"
#include "http/invalidation.h"
#include "http/vary.h"

namespace ringside::cache {
namespace {

using Kind = Action::Kind;

// Whether an answer that is not stored says something of the resource, so that what was stored is
// outdated and the next requests for the key should not wait for each other. A 4xx is most often
// about who asked or how (400, 401, 403, 416, 429, …), and a 5xx about the origin's state.
bool is_about_resource(std::string_view method, Storability storability, int status) noexcept {
  if (method != "GET" || storability == Storability::authorization) return false;
  return status < 400 || status == 404 || status == 405 || status == 410 || status == 414;
}

std::optional<std::uint64_t> body_length(const http::Framing& framing) noexcept {
  if (framing.kind == http::Framing::Kind::length) return framing.length_bytes;
  if (framing.kind == http::Framing::Kind::none) return 0;
  return std::nullopt;
}

// The part that a 206 has, where all that it says of it fits together (RFC 9110 §15.3.7.1, §14.4).
std::optional<http::ContentRange> told_part(const http::ResponseHead& response) {
  if (response.fields.count("content-range") != 1) return std::nullopt;
  const auto told = http::parse_content_range(*response.fields.first("content-range"));
  if (!told || !told->span || !told->complete_length) return std::nullopt;
  const auto length = body_length(response.framing);
  if (length && *length != told->span->size()) return std::nullopt;
  // Several parts, each with a range of its own (§15.3.7.2).
  constexpr std::string_view several = "multipart/byteranges";
  const auto type = response.fields.first("content-type").value_or(std::string_view{});
  if (http::same_token(type.substr(0, several.size()), several)) return std::nullopt;
  return told;
}

Action give_stale(const StoredPointer& stored, Flight::Completion why) {
  Action action;
  action.kind = Kind::give_stale;
  action.response = stored;
  action.completion = why;
  return action;
}

// RFC 9111 §4.3.4: the stored response gets the 304's fields and a new life.
Action confirm(const Fetched& fetched, const http::ResponseHead& response) {
  const StoredPointer& validated = fetched.plan.validated;
  const StoredHead& stored = *validated->head;
  const Rules& rules = fetched.context.rules();
  Action action;
  if (!http::confirms(stored.fields(), response.fields, fetched.times.received)) {
    action.kind = Kind::ask_alone;
    action.outdated = validated;
    return action;
  }
  auto update = update_of(stored, response.fields, fetched.request, fetched.times, fetched.context);
  action.response = make_stored({std::move(update.head), validated->body, validated->extent});
  const auto directives = effective_directives(action.response->head->fields(), rules);
  action.own_lines = lines_not_stored(response.fields, fields_not_stored(directives, rules), rules);
  action.storability = update.storability;
  action.kind =
      update.storability == Storability::storable ? Kind::give_confirmed : Kind::give_alone;
  // Unless the reason is this request's own (Authorization), what was stored must go.
  const bool is_for_one = update.storability == Storability::authorization;
  if (action.kind == Kind::give_alone && !is_for_one) action.outdated = validated;
  return action;
}

// The rest of what is stored in part: both together are the whole.
Action complete(const Fetched& fetched, const http::ResponseHead& response) {
  const StoredPointer& beginning = fetched.plan.completed;
  const auto part = told_part(response);
  const bool fits_on = response.status == 206 && part &&
                       part->span->first == beginning->body->size_bytes &&
                       part->span->last + 1 == *part->complete_length &&
                       *part->complete_length == beginning->extent->complete_length_bytes &&
                       http::same_strong_validator(beginning->head->fields(), response.fields);
  Action action;
  action.kind = Kind::ask_alone;
  if (!fits_on) {
    action.outdated = beginning;
    return action;
  }
  auto update =
      update_of(*beginning->head, response.fields, fetched.request, fetched.times, fetched.context);
  action.storability = update.storability;
  if (update.storability != Storability::storable) {
    if (update.storability != Storability::authorization) action.outdated = beginning;
    return action;
  }
  action.kind = Kind::publish;
  action.beginning = beginning;
  action.answer.head = std::move(update.head);
  action.answer.length_bytes = part->complete_length;
  action.terms.keep = *part->complete_length <= fetched.object_limit_bytes;
  action.terms.expected_bytes = part->span->size();
  action.terms.variants_most = fetched.context.rules().variants_most;
  action.answer.is_kept = action.terms.keep;
  return action;
}

Storability judge_storability(const Fetched& fetched, const http::ResponseHead& response,
                              const http::ResponseDirectives& directives,
                              const Freshness& freshness) {
  const RequestContext& context = fetched.context;
  StorabilityInput input{context.method,  context.directives, context.authorized, response.status,
                         response.fields, directives,         freshness,          context.rules()};
  const auto location = response.fields.first("content-location");
  if (context.method == "POST" && location) {
    input.content_location_is_target =
        http::target_of_reference(*location, context.host, context.target) == context.target.text();
  }
  if (response.status == 206 && context.ranges && !fetched.plan.range.empty()) {
    const auto part = told_part(response);
    // Only what was asked for is what it says it is.
    input.is_understood_part = part && wants_just(context, *part->span, *part->complete_length);
  }
  if (!context.entity_tag.empty() && response.fields.first("etag") != context.entity_tag) {
    return Storability::status;  // of another entity: it can't stand under the key of this one
  }
  if (response.status == 416) return Storability::status;  // about the range, not the resource
  return storability(input);
}

// To this request alone.
Action relay(const Fetched& fetched, Storability storability, int status) {
  Action action;
  action.kind = Kind::relay;
  action.storability = storability;
  // That one entity is gone says nothing against storing the next.
  const bool is_of_any = fetched.context.entity_tag.empty();
  if (is_of_any && is_about_resource(fetched.context.method, storability, status)) {
    action.outdated = fetched.known;
    action.memory = Action::Memory::uncacheable;
  }
  return action;
}

}  // namespace

Decision decide(const RequestContext& context, const http::Fields& request,
                const StoredPointer& stored, bool slices_are_stored, TimePoint now) {
  if (context.may_use_store && stored) {
    const Freshness& freshness = stored->head->freshness();
    const Verdict verdict = judge(&freshness, context.directives, now);
    if (verdict != Verdict::must_validate && is_enough(*stored, context, request, now)) {
      const bool due = is_refresh_due(context, freshness, verdict, now);
      return {due ? Step::give_and_refresh : Step::give, verdict};
    }
  }
  if (context.may_use_store && context.directives.only_if_cached && !slices_are_stored) {
    return {Step::refuse};
  }
  if (!context.may_fill_store) return {Step::pass_on};
  return {context.rules().slice_size_bytes > 0 ? Step::fetch_slices : Step::fetch};
}

bool is_refresh_due(const RequestContext& context, const Freshness& freshness, Verdict verdict,
                    TimePoint now) {
  if (!context.may_fill_store) return false;
  const unsigned percent = context.rules().early_refresh_percent;
  return verdict == Verdict::stale_while_revalidating ||
         (verdict == Verdict::fresh && percent > 0 &&
          refreshes_early(freshness, hash64(context.key.text), percent, now));
}

Action decide(const Fetched& fetched, const Error& failure) {
  static_cast<void>(failure);  // whatever it was, nobody answered
  constexpr auto why = Flight::Completion::unreachable;
  if (takes_stale(fetched.plan.validated, fetched.context, fetched.request, why,
                  fetched.times.resident_at())) {
    return give_stale(fetched.plan.validated, why);
  }
  return {};
}

Action decide(const Fetched& fetched, const http::ResponseHead& response) {
  const FetchPlan& plan = fetched.plan;
  if (response.status == 304 && validates(plan)) return confirm(fetched, response);
  if (is_error_of_rfc5861(response.status) &&
      takes_stale(plan.validated, fetched.context, fetched.request, Flight::Completion::failed,
                  fetched.times.resident_at())) {
    return give_stale(plan.validated, Flight::Completion::failed);
  }
  // 416: it has become shorter than what is stored, and the origin does not heed If-Range.
  const bool is_of_range = response.status == 206 || response.status == 416;
  if (is_of_range && plan.completed) return complete(fetched, response);
  return decide_new(fetched, response);
}

Action decide_new(const Fetched& fetched, const http::ResponseHead& response) {
  const Rules& rules = fetched.context.rules();
  const auto directives = effective_directives(response.fields, rules);
  const auto freshness = freshness_of({response.status == 206 ? 200 : response.status,
                                       response.fields, directives, fetched.times, rules});
  const auto storability = judge_storability(fetched, response, directives, freshness);
  if (storability != Storability::storable) return relay(fetched, storability, response.status);

  Action action;
  action.kind = Kind::publish;
  action.memory = Action::Memory::cacheable;
  const auto withheld = fields_not_stored(directives, rules);
  action.own_lines = lines_not_stored(response.fields, withheld, rules);
  auto vary = http::vary_names(response.fields);
  auto variant = http::variant_key(vary, fetched.request);
  Flight::Answer& answer = action.answer;
  answer.length_bytes = body_length(response.framing);
  action.terms.variants_most = rules.variants_most;
  if (response.status == 206) {
    const auto part = told_part(response);
    answer.extent = Extent{part->span->first, *part->complete_length};
    answer.length_bytes = action.terms.expected_bytes = part->span->size();
  }
  answer.head = std::allocate_shared<const StoredHead>(
      CellAllocator<const StoredHead>(), response,
      StoredHead::Making{freshness, fetched.own_name, std::move(vary), std::move(variant), withheld,
                         fetched.times.received});
  // What is too large to be stored is still one fetch for those who wait for it now.
  action.terms.keep = !answer.length_bytes || *answer.length_bytes <= fetched.object_limit_bytes;
  answer.is_kept = action.terms.keep;
  return action;
}

bool takes_stale(const StoredPointer& stored, const RequestContext& context,
                 const http::Fields& request, Flight::Completion why, TimePoint now) {
  if (!stored || !is_enough(*stored, context, request, now)) return false;
  const Freshness& freshness = stored->head->freshness();
  return why == Flight::Completion::failed
             ? may_be_given_on_error(freshness, context.directives, now)
             : may_be_given_unreachable(freshness, context.directives, now);
}

bool wants_just(const RequestContext& context, const http::ByteSpan& part,
                std::uint64_t length_bytes) {
  if (!context.ranges) return false;
  const auto wanted = http::resolve(*context.ranges, length_bytes);
  return wanted.size() == 1 && wanted.front() == part;
}

}  // namespace ringside::cache
