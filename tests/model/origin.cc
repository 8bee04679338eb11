#include "tests/model/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/fake_clock.h"
#include "tests/support/scripted_peer.h"

namespace ringside::model {
namespace {

using support::field;

std::string tag_of(const OriginPlan& plan, const std::string& head) {
  const bool by_language = plan.vary == Vary::language || plan.vary == Vary::both;
  const bool by_encoding = plan.vary == Vary::encoding || plan.vary == Vary::both;
  return fmt::format("{}\"v{}{}{}{}\"", plan.tag == OriginPlan::Tag::weak ? "W/" : "", plan.version,
                     plan.status == 200 ? "" : fmt::format("-{}", plan.status),
                     by_language ? "-" + field(head, "accept-language") : "",
                     by_encoding ? "-" + field(head, "accept-encoding") : "");
}

Fields fields_of(const OriginPlan& plan, const std::string& head, TimePoint now) {
  Fields fields;
  fields.control = plan.control;
  if (plan.date_skew_s) fields.date = now + Seconds{*plan.date_skew_s};
  if (plan.expires_in_s) {
    fields.expires = plan.expires_is_invalid
                         ? never_valid
                         : fields.date.value_or(now) + Seconds{*plan.expires_in_s};
  }
  fields.age_s = plan.age_s;
  fields.vary = plan.vary;
  if (plan.tag != OriginPlan::Tag::none) fields.tag = tag_of(plan, head);
  if (plan.says_modified) {
    const int before_s = plan.version == 1 ? 3'000 : 200;
    fields.modified = support::FakeClock::start - Seconds{before_s + plan.status - 200};
  }
  return fields;
}

std::string without_weakness(const std::string& tag) {
  return tag.starts_with("W/") ? tag.substr(2) : tag;
}

bool has_it_already(const Answer& asked) {
  const Fields& fields = asked.representation;
  if (!asked.asked_tags.empty()) {
    // Tags of this world hold no other: one is in the list where its text is.
    return asked.asked_tags == "*" ||
           (fields.tag &&
            asked.asked_tags.find(without_weakness(*fields.tag)) != std::string::npos);
  }
  // To the second, or a version that came back would pass for the one in between.
  return fields.modified && date_text(*fields.modified) == asked.asked_since;
}

void send_part(Answer& answer, const std::string& range) {
  char* rest = nullptr;
  const auto from = std::find(range.begin(), range.end(), '=');
  const std::string numbers(from == range.end() ? from : from + 1, range.end());
  Range part;
  part.first = std::strtoul(numbers.c_str(), &rest, 10);
  const std::size_t end = answer.content.size() - 1;
  part.last =
      *rest == '-' && rest[1] != 0 ? std::min(end, std::strtoul(rest + 1, nullptr, 10)) : end;
  if (part.first > part.last || rest == numbers.c_str()) return;
  answer.part = part;
  answer.status = 206;
}

}  // namespace

void Origin::begin(const Request& request, const OriginPlan& plan, TimePoint now) {
  const std::lock_guard lock(mutex_);
  plan_ = plan;
  now_ = now;
  told_.clear();
  model_.begin(request, now);
}

std::vector<std::string> Origin::told() {
  const std::lock_guard lock(mutex_);
  return told_;
}

Origin::Said Origin::answer(const std::string& head) {
  const std::lock_guard lock(mutex_);
  if (plan_.way == OriginPlan::Way::closes) {
    model_.failed();
    told_.emplace_back("closes");
    return {"", true};
  }
  Answer answer;
  answer.method = head.substr(0, head.find(' '));
  answer.status = plan_.status;
  answer.fields = answer.representation = fields_of(plan_, head, now_);
  answer.asked_tags = field(head, "if-none-match");
  answer.asked_since = field(head, "if-modified-since");
  answer.content =
      plan_.tag == OriginPlan::Tag::strong && plan_.status == 200
          ? fmt::format("{:.<32}", head.substr(0, head.find("HTTP")).substr(4) + *answer.fields.tag)
          : fmt::format("content {:.<24}", contents_++);
  const bool reads = answer.method == "GET" || answer.method == "HEAD";
  const auto range = field(head, "range");
  if (answer.status == 200 && reads && plan_.heeds_conditions && has_it_already(answer)) {
    answer.status = 304;
    if (!plan_.confirms_with_fields) {
      answer.fields = {};
      answer.fields.date = answer.representation.date;
    }
  } else if (answer.status == 200 && answer.method == "GET" && plan_.heeds_ranges &&
             !range.empty()) {
    send_part(answer, range);
  }
  if (answer.status == 204) answer.content.clear();
  const bool is_note = answer.status == 304 || answer.method == "HEAD";
  const bool has_body = !is_note && answer.status != 204;
  answer.whole = plan_.way == OriginPlan::Way::answers || !has_body;

  const Answer& said = answer;
  const auto number = model_.answered(said);
  std::string bytes = fmt::format("HTTP/1.1 {} As-Planned\r\n{}", said.status, lines(said.fields));
  bytes += fmt::format(fmt::runtime(is_note ? "X-Note-{}: here\r\n" : "X-Answer: {}\r\n"), number);
  std::string body = said.content;
  if (said.part) {
    bytes += fmt::format("Content-Range: bytes {}-{}/{}\r\n", said.part->first, said.part->last,
                         body.size());
    body = body.substr(said.part->first, said.part->last - said.part->first + 1);
  }
  if (said.status != 304 && said.status != 204) {
    bytes += fmt::format("Content-Length: {}\r\n", body.size());
  }
  told_.push_back(fmt::format("{} {}{} -> {}{}", said.method, said.asked_tags, said.asked_since,
                              said.whole ? "" : "(cut) ", bytes.substr(9)));
  bytes += "\r\n";
  if (has_body) bytes += said.whole ? body : body.substr(0, body.size() / 2);
  return {bytes, !said.whole};
}

}  // namespace ringside::model
