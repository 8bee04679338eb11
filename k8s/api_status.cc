#include "k8s/api_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/limits.h"

namespace ringside::k8s {
namespace {

constexpr std::size_t excerpt_size_bytes = 200;

Milliseconds wait_of(std::uint64_t seconds) {
  constexpr auto most =
      static_cast<std::uint64_t>(std::chrono::floor<Seconds>(limits::api_retry_after_most).count());
  return Seconds(std::min(seconds, most));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Status read_status(const ApiField& object) {
  Status status;
  status.code = object.at("code").count().value_or(0);
  status.reason = object.at("reason").text();
  status.message = object.at("message").text();
  const ApiField details = object.at("details");
  if (const auto seconds = details.at("retryAfterSeconds").count()) {
    status.retry_after = wait_of(*seconds);
  }
  const auto causes = details.at("causes").elements();
  status.version_too_large = std::any_of(causes.begin(), causes.end(), [](const ApiField& cause) {
    return cause.at("reason").text() == "ResourceVersionTooLarge";
  });
  return status;
}

FailureReason reason_of(const Status& status) {
  if (status.code == 410 || status.reason == "Expired" || status.reason == "Gone" ||
      status.version_too_large) {
    return FailureReason::gone;
  }
  switch (status.code) {
    case 401:
      return FailureReason::unauthorized;
    case 403:
      return FailureReason::forbidden;
    case 404:
      return FailureReason::not_found;
    case 429:
      return FailureReason::throttled;
    case 503:
      return status.retry_after ? FailureReason::throttled : FailureReason::other;
    default:
      return FailureReason::other;
  }
}

Failure failure_of_error_event(const Status& status) {
  const FailureReason reason = reason_of(status);
  const std::string_view remedy =
      reason == FailureReason::gone ? "everything is listed again" : "the watch begins anew";
  return Failure{reason,
                 fmt::format("the API server ended the watch ({} {}): {}; {}", status.code,
                             excerpt(status.reason), excerpt(status.message), remedy),
                 status.retry_after};
}

std::optional<Milliseconds> read_retry_after(std::string_view seconds) {
  constexpr std::string_view blank = " \t";
  const auto first = seconds.find_first_not_of(blank);
  if (first == std::string_view::npos) return std::nullopt;
  seconds = seconds.substr(first, seconds.find_last_not_of(blank) + 1 - first);
  if (!std::all_of(seconds.begin(), seconds.end(), is_digit)) return std::nullopt;
  std::uint64_t count = 0;
  for (const char digit : seconds) {
    count = std::min<std::uint64_t>(count * 10 + static_cast<std::uint64_t>(digit - '0'),
                                    std::numeric_limits<std::uint32_t>::max());
  }
  return wait_of(count);
}

std::string excerpt(std::string_view said) {
  std::string out;
  for (const char c : said) {
    if (out.size() == excerpt_size_bytes) return out + "…";
    if (c > ' ' && c < '\x7f') {
      out.push_back(c);
    } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
      if (!out.empty() && out.back() != ' ') out.push_back(' ');
    } else {
      out.push_back('?');
    }
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace ringside::k8s
