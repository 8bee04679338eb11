#include "hop/access_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/limits.h"
#include "http/date.h"

namespace ringside::hop {
namespace {

constexpr std::string_view cut_mark = " ...";

void append_cut(std::string& out, std::string_view text) {
  out += text.substr(0, limits::access_log_field_size_bytes);
  if (text.size() > limits::access_log_field_size_bytes) out += cut_mark;
}

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte > 0x7e) {
      out += "\\x";
      out += digits[byte >> 4U];
      out += digits[byte & 0xfU];
    } else {
      out += c;
    }
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  append_escaped(out, text.empty() ? "-" : text);
  out += '"';
}

// `10/Oct/2000:13:55:36 +0000`
void append_time(std::string& out, TimePoint time) {
  const auto date = http::format_date(time);  // Tue, 10 Oct 2000 13:55:36 GMT
  const std::string_view text(date.data(), date.size());
  out.append(text.substr(5, 2)).append("/").append(text.substr(8, 3)).append("/");
  out.append(text.substr(12, 4)).append(":").append(text.substr(17, 8)).append(" +0000");
}

}  // namespace

void AccessRecord::begin(TimePoint now, const IpAddress& from, const http::RequestHead* head) {
  time = now;
  client = from;
  for (std::string* text : {&request, &host, &referer, &user_agent, &replica}) text->clear();
  status = 0;
  body_bytes = 0;
  duration = {};
  result = {};
  country = {'Z', 'Z'};
  if (head == nullptr) return;
  append_cut(request, head->method);
  request += ' ';
  append_cut(request, head->target);
  request += head->minor_version == 0 ? " HTTP/1.0" : " HTTP/1.1";
  append_cut(host, head->host);
  append_cut(referer, head->fields.first("referer").value_or(std::string_view{}));
  append_cut(user_agent, head->fields.first("user-agent").value_or(std::string_view{}));
}

void AccessRecord::end(std::string_view outcome, std::string_view country_code,
                       std::chrono::microseconds took, std::uint64_t bytes) noexcept {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const bool is_code = country_code.size() == country.size() &&
                       std::all_of(country_code.begin(), country_code.end(), is_upper);
  (is_code ? country_code : std::string_view("ZZ")).copy(country.data(), country.size());
  result = outcome;
  duration = took;
  body_bytes = bytes;
}

void append_log_line(std::string& out, const AccessRecord& record) {
  out += record.client.text();
  out += " - - [";
  append_time(out, record.time);
  out += "] ";
  append_quoted(out, record.request);
  if (record.status == 0) {
    out += " -";
  } else {
    fmt::format_to(std::back_inserter(out), " {:03}", record.status);
  }
  fmt::format_to(std::back_inserter(out), " {} ", record.body_bytes);
  append_quoted(out, record.referer);
  out += ' ';
  append_quoted(out, record.user_agent);
  out += " host=";
  append_quoted(out, record.host);
  constexpr std::int64_t us_per_s = 1'000'000;
  const std::int64_t duration_us = record.duration.count();
  fmt::format_to(std::back_inserter(out),
                 " time={}.{:06} result={} replica=", duration_us / us_per_s,
                 duration_us % us_per_s, record.result.empty() ? "-" : record.result);
  append_escaped(out, record.replica.empty() ? "-" : record.replica);
  out += " country=";
  append_escaped(out, {record.country.data(), record.country.size()});
  out += '\n';
}

}  // namespace ringside::hop
