#include "cache/move_answer.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "base/limits.h"
#include "cache/bucket_source.h"
#include "http/error_response.h"
#include "http/internal_fields.h"
#include "net/nap.h"

namespace ringside::cache {
namespace {

// Takes a number from the front of `left`, and the space before it. 0: there is none.
std::uint64_t take_number(std::string_view& left) {
  std::uint64_t number = 0;
  const char* const end = left.data() + left.size();
  const char* const begin = left.starts_with(' ') ? left.data() + 1 : end;
  const auto parsed = std::from_chars(begin, end, number);
  if (parsed.ec != std::errc{}) return 0;
  left.remove_prefix(static_cast<std::size_t>(parsed.ptr - left.data()));
  return number;
}

// `NAME NUMBER`, or `NAME NUMBER SERIAL`.
std::optional<BucketSource::Question> read_question(const http::Fields& asked) {
  std::string_view text = asked.first(http::internal::move).value_or(std::string_view{});
  BucketSource::Question question;
  question.taker = text.substr(0, text.find(' '));
  text.remove_prefix(question.taker.size());
  question.number = take_number(text);
  const bool has_serial = !text.empty();
  question.serial = take_number(text);
  const bool is_whole = text.empty() && has_serial == (question.serial > 0);
  // Older replicas do not say it.
  if (const auto most = asked.first(http::internal::move_most)) {
    const char* const end = most->data() + most->size();
    const auto parsed = std::from_chars(most->data(), end, question.response_bytes_most);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  }
  if (question.taker.empty() || question.number == 0 || !is_whole) return std::nullopt;
  return question;
}

// A shard may be of GiB, and the core has clients. A pause is the end of a turn: what is ready goes
// out (see Core::gather), and others get the lock.
Task<void> remove_by_steps(CoreState& core, std::string taker) {
  bool is_over = false;
  while (!is_over) {
    const SteadyPoint now = core.core.clock().steady_now();
    co_await net::nap_until(core.core, now + limits::move_remove_pause);
    is_over = core.core.stopped() || core.shared.source.remove_step(taker);
  }
}

}  // namespace

void answer_move(CoreState& core, const http::Fields& asked, http::Response& response) {
  // Before the store is looked at: what is removed meanwhile is not done by this.
  const std::string done = core.shared.purges.done(core.core.steady_now());
  // Before anything is given, likewise: if some of it is taken back, that is in a later version.
  const tier::HoldingsVersion version = core.shared.holders.own_version();
  BucketSource::Answer answer;
  const auto question = read_question(asked);
  if (question) {
    answer =
        core.shared.source.answer(*question, {core.core.resident_now(), core.core.steady_now()});
    core.shared.moved.left_out.fetch_add(answer.left_out);
    if (core.shared.source.claim_removal(question->taker)) {
      core.core.spawn(remove_by_steps(core, question->taker));
    }
  }
  response.begin(200, http::reason_of(200));
  response.fields.add("Content-Length", fmt::format_int(answer.batch.size_bytes()).c_str());
  http::add_date(response.fields, core.core.now());
  const std::uint64_t number = question ? question->number : 0;
  response.fields.add(http::internal::move, fmt::format("{} {}", number, answer.serial));
  response.fields.add(http::internal::holdings, tier::to_text(version));
  if (!done.empty()) response.fields.add(http::internal::purges_done, done);
  response.body = std::move(answer.batch).body();
}

}  // namespace ringside::cache
