#include "tests/model/reference.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringside::model {
namespace {

bool is_one_of(int status, std::initializer_list<int> statuses) {
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

bool is_heuristically_cacheable(int status) {  // RFC 9110 §15.1
  return is_one_of(status, {200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501});
}

bool is_unsafe(const std::string& method) { return method != "GET" && method != "HEAD"; }

bool is_strong(const std::string& tag) { return !tag.starts_with("W/"); }

// Weak comparison, RFC 9110 §8.8.3.2.
bool same_tag(const std::string& a, const std::string& b) {
  return (is_strong(a) ? a : a.substr(2)) == (is_strong(b) ? b : b.substr(2));
}

int seconds_between(TimePoint from, TimePoint to) {
  return static_cast<int>(std::chrono::duration_cast<Seconds>(to - from).count());
}

// §3.2: what came later replaces what was there. An Age is of its own message only.
Fields merged(Fields older, const Fields& newer) {
  if (newer.control) older.control = newer.control;
  if (newer.expires) older.expires = newer.expires;
  if (newer.vary) older.vary = newer.vary;
  if (newer.tag) older.tag = newer.tag;
  if (newer.modified) older.modified = newer.modified;
  older.date = newer.date;
  older.age_s = newer.age_s;
  return older;
}

// §4.2.1
int lifetime_s(const Fields& fields, int status, TimePoint received) {
  const Control control = fields.control.value_or(Control{});
  const TimePoint date = fields.date.value_or(received);
  if (control.s_maxage_s) return *control.s_maxage_s;
  if (control.max_age_s) return *control.max_age_s;
  if (fields.expires == never_valid) return 0;
  if (fields.expires) return std::max(0, seconds_between(date, *fields.expires));
  const bool heuristic = is_heuristically_cacheable(status) || control.is_public;
  if (!heuristic || !fields.modified) return 0;
  return std::clamp(seconds_between(*fields.modified, date) / 10, 0, 86'400);
}

// §4.2.3; an exchange takes no time here.
int age_s(const Fields& fields, TimePoint received, TimePoint now) {
  const int apparent_s = fields.date ? std::max(0, seconds_between(*fields.date, received)) : 0;
  return std::max(apparent_s, fields.age_s.value_or(0)) + seconds_between(received, now);
}

// §3, §3.5
std::string store_objection(const Answer& answer) {
  const Control control = answer.fields.control.value_or(Control{});
  if (answer.method != "GET") return "the answer to a " + answer.method;
  if (answer.request.no_store) return "its request said no-store (§5.2.1.5)";
  if (control.no_store) return "it said no-store (§5.2.2.5)";
  if (control.is_private) return "it said private (§5.2.2.7)";
  const bool shared = control.is_public || control.must_revalidate || control.s_maxage_s;
  if (answer.request.authorized && !shared) return "its request was authorized (§3.5)";
  const bool lives = control.is_public || control.max_age_s || control.s_maxage_s ||
                     answer.fields.expires || is_heuristically_cacheable(answer.status);
  return lives ? "" : "nothing allows to store it (§3)";
}

// §4.1: by the request that it answered.
bool vary_matches(const Fields& fields, const Request& original, const Request& presented) {
  if (!fields.vary) return true;
  if (*fields.vary == Vary::any) return false;
  const bool languages = original.language == presented.language;
  const bool encodings = original.encoding == presented.encoding;
  return (*fields.vary == Vary::encoding || languages) &&
         (*fields.vary == Vary::language || encodings);
}

// §4.3.2
bool is_not_modified(const Request& request, const Fields& fields, TimePoint received) {
  if (request.if_none_match) {
    return *request.if_none_match == "*" ||
           (fields.tag && same_tag(*fields.tag, *request.if_none_match));
  }
  const TimePoint changed = fields.modified.value_or(fields.date.value_or(received));
  return request.if_modified_since && changed <= *request.if_modified_since;
}

// Whether a 304 (§4.3.4) or a HEAD's 200 (§4.3.5) is about a stored response with those fields.
bool is_about(const Answer& note, const Answer& base, const Fields& fields) {
  const Fields& said = note.fields;
  if (note.request.uri != base.request.uri || note.number < base.number) return false;
  const bool modified_differs = said.modified && said.modified != fields.modified;
  if (note.method == "HEAD") {
    return note.status == 200 && !modified_differs && (!said.tag || said.tag == fields.tag);
  }
  // A 304 stands for a 200 (RFC 9110 §15.4.5), not for an error.
  if (note.method != "GET" || note.status != 304 || base.status >= 300) return false;
  // The one strong validator that both have may be Last-Modified.
  const bool same_modified = said.modified && !modified_differs;
  if (said.tag && fields.tag) {
    const bool enough = !is_strong(*said.tag) || *said.tag == *fields.tag || same_modified;
    return enough && same_tag(*said.tag, *fields.tag);
  }
  if (said.tag && is_strong(*said.tag)) return same_modified;
  const bool asked_tag = fields.tag && note.asked_tags.find(*fields.tag) != std::string::npos;
  const TimePoint changed = fields.modified.value_or(fields.date.value_or(base.received));
  return !modified_differs && (asked_tag || note.asked_since == date_text(changed));
}

}  // namespace

void Reference::begin(const Request& request, TimePoint now) {
  ++step_;
  first_of_step_ = answers_.size();
  request_ = request;
  now_ = now;
  failed_in_step_ = error_in_step_ = false;
}

std::size_t Reference::answered(Answer answer) {
  answer.number = answers_.size();
  answer.step = step_;
  answer.received = now_;
  answer.request = request_;
  failed_last_ = !answer.whole;
  failed_in_step_ |= !answer.whole;
  error_in_step_ |= is_one_of(answer.status, {500, 502, 503, 504});
  // §4.4
  if (is_unsafe(answer.method) && answer.status < 400) {
    invalid_before_[static_cast<std::size_t>(request_.uri)] = answer.number;
  }
  answers_.push_back(std::move(answer));
  return answers_.back().number;
}

void Reference::failed() { failed_in_step_ = failed_last_ = true; }

Reference::Stored Reference::stored(std::size_t answer,
                                    const std::vector<std::size_t>& notes) const {
  Stored out;
  out.base = out.newest = &answers_[answer];
  out.fields = out.base->fields;
  for (const std::size_t number : notes) {
    const Answer& note = answers_[number];
    out.foreign |= !is_about(note, *out.base, out.fields);
    out.fields = merged(std::move(out.fields), note.fields);
    out.newest = &note;
    const Control said = note.fields.control.value_or(Control{});
    out.forbidden |= said.no_store || said.is_private || note.request.no_store;
  }
  return out;
}

std::optional<Reference::Stored> Reference::latest(int uri) const {
  for (std::size_t base = answers_.size(); base-- > 0;) {
    const Answer& answer = answers_[base];
    const bool is_content = answer.method == "GET" && answer.status != 304 && answer.whole;
    if (answer.request.uri != uri || !is_content) continue;
    std::vector<std::size_t> notes;
    for (std::size_t number = base + 1; number < answers_.size(); ++number) {
      const auto so_far = stored(base, notes);
      if (answers_[number].status == 304 && is_about(answers_[number], answer, so_far.fields)) {
        notes.push_back(number);
      }
    }
    return stored(base, notes);
  }
  return std::nullopt;
}

std::optional<Reference::Life> Reference::life(int uri, TimePoint now) const {
  const auto found = latest(uri);
  if (!found) return std::nullopt;
  Life life;
  const TimePoint received = found->newest->received;
  life.age_s = age_s(found->fields, received, now);
  life.left_s = lifetime_s(found->fields, found->base->status, received) - life.age_s;
  const Control control = found->fields.control.value_or(Control{});
  life.grace_s = control.stale_while_revalidate_s.value_or(control.stale_if_error_s.value_or(0));
  return life;
}

bool Reference::could_reuse() const {
  if (is_unsafe(request_.method) || request_.no_store || request_.range) return false;
  const auto found = latest(request_.uri);
  return found && !found->base->part && use_objection(*found).empty();
}

bool Reference::is_reused(const Reply& reply) const {
  return reply.answer && *reply.answer < first_of_step_ &&
         (reply.notes.empty() || reply.notes.back() < first_of_step_);
}

std::string Reference::objection(const Reply& reply) const {
  const bool known = (!reply.answer || *reply.answer < answers_.size()) &&
                     (reply.notes.empty() || reply.notes.back() < answers_.size());
  if (!known) return "the origin never said that";
  if (!reply.answer && reply.notes.empty()) return own_objection(reply);
  if (!reply.answer) return forwarded_objection(answers_[reply.notes.back()], reply);
  if (reply.notes.empty() && *reply.answer >= first_of_step_) {
    return forwarded_objection(answers_[*reply.answer], reply);
  }
  return reused_objection(stored(*reply.answer, reply.notes), reply);
}

std::string Reference::own_objection(const Reply& reply) const {
  if (reply.status == 504 && request_.only_if_cached) return "";
  const bool unreachable = failed_in_step_ || failed_last_;
  if (is_one_of(reply.status, {502, 503, 504}) && unreachable) return "";
  return "an error of the cache's own, and the origin had not failed";
}

std::string Reference::forwarded_objection(const Answer& answer, const Reply& reply) const {
  if (answer.step != step_) return "it is no answer to this request";
  if (request_.only_if_cached) return "the origin was asked despite only-if-cached (§5.2.1.7)";
  const bool wider = request_.method == "HEAD" && answer.method == "GET";
  if (answer.method != request_.method && !wider) return "the origin was asked something else";
  const auto& held = answer.status == 304 ? answer.representation : answer.fields;
  if (reply.status == 304) {
    const bool could = answer.status < 300 || answer.status == 304;
    const bool allowed = could && is_not_modified(request_, held, answer.received);
    return allowed ? "" : "a 304 to a client who does not have it (§4.3.2)";
  }
  const int own_s = answer.fields.age_s.value_or(0);
  const int computed_s = age_s(answer.fields, answer.received, now_);
  if (reply.age_s && *reply.age_s != own_s && *reply.age_s != computed_s) return "its Age (§5.1)";
  return content_objection(answer, reply);
}

std::string Reference::content_objection(const Answer& answer, const Reply& reply) const {
  if (!reply.whole) return answer.whole ? "it was cut short" : "";
  const bool partial = reply.status == 206 && answer.status == 200;
  // Parts of what one strong tag stands for make the whole (§3.4).
  const bool combined = reply.status == 200 && answer.status == 206 && answer.fields.tag &&
                        is_strong(*answer.fields.tag);
  if (reply.status != answer.status && !partial && !combined) return "its status is another";
  if (reply.status == 206 && !request_.range) return "a 206 to who asked for the whole";
  if (request_.method == "HEAD") return reply.body.empty() ? "" : "a body after HEAD";
  if (reply.status != 206 && !answer.whole) return "what was cut short was given as whole (§3.3)";
  if (reply.status != 206) return reply.body == answer.content ? "" : "its body is another";
  const auto [first, last] = *request_.range;
  const auto expected = fmt::format("bytes {}-{}/{}", first, last, answer.content.size());
  const bool right = reply.content_range == expected &&
                     reply.body == answer.content.substr(first, last - first + 1);
  return right ? "" : "its part is another";
}

// A 304 in the past told something of it that it does not say (§4.3.4, §3.2).
bool Reference::forgot_a_note(const Stored& stored, const Reply& reply) const {
  return std::any_of(answers_.begin(), answers_.end(), [&](const Answer& note) {
    const Control said = note.fields.control.value_or(Control{});
    const bool plain = !note.request.no_store && !note.request.range && !said.no_store &&
                       !said.is_private && note.request.method == "GET";
    const bool asked = stored.fields.tag && note.asked_tags == *stored.fields.tag;
    return note.status == 304 && note.number > stored.newest->number && note.step < step_ &&
           plain && asked && is_about(note, *stored.base, stored.fields) &&
           vary_matches(stored.fields, stored.base->request, note.request) &&
           std::find(reply.notes.begin(), reply.notes.end(), note.number) == reply.notes.end();
  });
}

std::string Reference::reused_objection(const Stored& stored, const Reply& reply) const {
  const Answer& base = *stored.base;
  if (is_unsafe(request_.method)) return "an unsafe method was answered from the store";
  if (base.request.uri != request_.uri) return "it is of another URI";
  if (stored.foreign) return "it was updated with what is of another response (§4.3.4)";
  if (auto why = store_objection(base); !why.empty()) return "stored, although " + why;
  const bool validated = stored.newest->step == step_ && stored.newest->status == 304;
  if (!validated) {
    if (auto why = use_objection(stored); !why.empty()) return why;
    if (forgot_a_note(stored, reply)) return "a 304 of before is forgotten (§4.3.4)";
  }
  const bool not_modified = reply.status == 304;
  const auto& part = base.part;
  const bool has_all = !part || not_modified || (base.fields.tag && is_strong(*base.fields.tag)) ||
                       (request_.range && request_.range->first >= part->first &&
                        request_.range->last <= part->last);
  if (!has_all) return "only a part of it was stored (§3.3)";
  if (not_modified) {
    const bool held =
        base.status < 300 && is_not_modified(request_, stored.fields, stored.newest->received);
    if (!held) return "a 304 to a client who does not have it (§4.3.2)";
  } else if (auto why = content_objection(base, reply); !why.empty()) {
    return why;
  }
  const int computed_s = age_s(stored.fields, stored.newest->received, now_);
  if (!reply.age_s || std::abs(*reply.age_s - computed_s) > 1) {
    return fmt::format("its Age should be {} (§4.2.3)", computed_s);
  }
  const Fields& fields = stored.fields;
  const bool as_stored =
      reply.control == (fields.control ? text(*fields.control) : "") &&
      reply.expires == (fields.expires ? expires_text(*fields.expires) : "") &&
      reply.vary == (fields.vary ? text(*fields.vary) : "") &&
      reply.tag == fields.tag.value_or("") &&
      (not_modified || reply.modified == (fields.modified ? date_text(*fields.modified) : ""));
  return as_stored ? "" : "its fields are not the stored ones (§3.2)";
}

std::string Reference::use_objection(const Stored& stored) const {
  const Answer& base = *stored.base;
  const Control control = stored.fields.control.value_or(Control{});
  if (auto why = store_objection(base); !why.empty()) return why;
  if (stored.forbidden) return "a 304 said that it may not be stored (§5.2.2.5, §5.2.2.7)";
  if (!base.whole) return "it was cut short (§3.3)";
  // A 304 makes the stored response one of the request that it answers, too.
  const bool fits = vary_matches(stored.fields, base.request, request_) ||
                    (stored.newest->status == 304 &&
                     vary_matches(stored.fields, stored.newest->request, request_));
  if (!fits) return "Vary (§4.1)";
  const auto uri = static_cast<std::size_t>(request_.uri);
  if (stored.newest->number < invalid_before_[uri]) return "it was invalidated (§4.4)";
  if (control.no_cache) return "it said no-cache (§5.2.2.4)";
  if (request_.no_cache) return "the request said no-cache (§5.2.1.4)";
  const int age = age_s(stored.fields, stored.newest->received, now_);
  const int left = lifetime_s(stored.fields, base.status, stored.newest->received) - age;
  if (request_.max_age_s && age > *request_.max_age_s) return "the request's max-age (§5.2.1.1)";
  if (request_.min_fresh_s && left < *request_.min_fresh_s) return "min-fresh (§5.2.1.3)";
  if (left > 0 || may_be_stale(stored, -left)) return "";
  return fmt::format("it is stale by {} s and nothing allows that (§4.2.4)", -left);
}

bool Reference::may_be_stale(const Stored& stored, int stale_s) const {
  const Control control = stored.fields.control.value_or(Control{});
  if (control.must_revalidate || control.s_maxage_s) return false;  // §5.2.2.2, §5.2.2.10
  const bool unreachable = failed_in_step_ || failed_last_;
  return unreachable || (request_.max_stale_s && stale_s <= *request_.max_stale_s) ||
         (control.stale_while_revalidate_s && stale_s <= *control.stale_while_revalidate_s) ||
         (error_in_step_ && control.stale_if_error_s && stale_s <= *control.stale_if_error_s);
}

}  // namespace ringside::model
