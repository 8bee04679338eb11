#include "tests/model/world.h"

#include <fmt/format.h>

#include "http/date.h"

namespace ringside::model {
namespace {

std::string joined(const std::vector<std::string>& members) {
  std::string out;
  for (const std::string& member : members) out += (out.empty() ? "" : ", ") + member;
  return out;
}

void add_number(std::vector<std::string>& members, const char* name,
                const std::optional<int>& value) {
  if (value) members.push_back(fmt::format("{}={}", name, *value));
}

void add_flag(std::vector<std::string>& members, const char* name, bool said) {
  if (said) members.emplace_back(name);
}

void add_line(std::string& out, const char* name, const std::string& value) {
  out += fmt::format("{}: {}\r\n", name, value);
}

}  // namespace

std::string date_text(TimePoint time) {
  const auto date = http::format_date(time);
  return {date.data(), date.size()};
}

std::string text(const Control& control) {
  std::vector<std::string> members;
  add_flag(members, "no-store", control.no_store);
  add_flag(members, "no-cache", control.no_cache);
  add_flag(members, "private", control.is_private);
  add_flag(members, "public", control.is_public);
  add_flag(members, "must-revalidate", control.must_revalidate);
  add_number(members, "max-age", control.max_age_s);
  add_number(members, "s-maxage", control.s_maxage_s);
  add_number(members, "stale-while-revalidate", control.stale_while_revalidate_s);
  add_number(members, "stale-if-error", control.stale_if_error_s);
  return joined(members);
}

std::string text(Vary vary) {
  switch (vary) {
    case Vary::language:
      return "Accept-Language";
    case Vary::encoding:
      return "accept-encoding";
    case Vary::both:
      return "Accept-Encoding, Accept-Language";
    case Vary::any:
      return "*";
  }
  return "*";
}

std::string expires_text(TimePoint expires) {
  return expires == never_valid ? "0" : date_text(expires);
}

std::string lines(const Fields& fields) {
  std::string out;
  if (fields.control) add_line(out, "Cache-Control", text(*fields.control));
  if (fields.expires) add_line(out, "Expires", expires_text(*fields.expires));
  if (fields.date) add_line(out, "Date", date_text(*fields.date));
  if (fields.age_s) add_line(out, "Age", fmt::to_string(*fields.age_s));
  if (fields.vary) add_line(out, "Vary", text(*fields.vary));
  if (fields.tag) add_line(out, "ETag", *fields.tag);
  if (fields.modified) add_line(out, "Last-Modified", date_text(*fields.modified));
  return out;
}

std::string lines(const Request& request) {
  std::string out;
  if (!request.language.empty()) add_line(out, "Accept-Language", request.language);
  if (!request.encoding.empty()) add_line(out, "Accept-Encoding", request.encoding);
  std::vector<std::string> members;
  add_flag(members, "no-cache", request.no_cache);
  add_flag(members, "no-store", request.no_store);
  add_flag(members, "only-if-cached", request.only_if_cached);
  add_number(members, "max-age", request.max_age_s);
  add_number(members, "min-fresh", request.min_fresh_s);
  add_number(members, "max-stale", request.max_stale_s);
  if (!members.empty()) add_line(out, "Cache-Control", joined(members));
  if (request.authorized) add_line(out, "Authorization", "Basic YTpi");
  if (request.if_none_match) add_line(out, "If-None-Match", *request.if_none_match);
  if (request.if_modified_since) {
    add_line(out, "If-Modified-Since", date_text(*request.if_modified_since));
  }
  if (request.range) {
    add_line(out, "Range", fmt::format("bytes={}-{}", request.range->first, request.range->last));
  }
  return out;
}

std::string path(int uri) { return fmt::format("/{}", static_cast<char>('a' + uri)); }

}  // namespace ringside::model
