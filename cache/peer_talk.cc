#include "cache/peer_talk.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "base/limits.h"
#include "cache/peer_exchange.h"
#include "http/error_response.h"
#include "http/internal_fields.h"
#include "net/waiter.h"

namespace ringside::cache {
namespace {

using tier::HoldingsVersion;

constexpr Milliseconds longest_pause = std::chrono::hours{1};

std::string_view take_word(std::string_view& text) noexcept {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

// `NAME INCARNATION NUMBER INCARNATION NUMBER`: who asks, its version, ours that it knows.
struct Said {
  std::string_view name;
  HoldingsVersion theirs;
  HoldingsVersion known;
  std::uint64_t taken_back_in = 0;  // which number of its version: gifts to us; 0: it says none
};

std::optional<Said> read_said(const http::Fields& asked) {
  std::string_view text = asked.first(http::internal::holdings).value_or(std::string_view{});
  const auto taken_back = asked.first(http::internal::taken_back);
  Said said;
  said.name = take_word(text);
  const std::size_t second = text.find(' ');
  const std::size_t third = text.find(' ', std::min(second, text.size() - 1) + 1);
  if (second >= text.size() || third >= text.size()) return std::nullopt;
  const auto theirs = tier::parse_holdings_version(text.substr(0, third));
  const auto known = tier::parse_holdings_version(text.substr(third + 1));
  if (!theirs || !known) return std::nullopt;
  if (taken_back) {
    const char* const end = taken_back->data() + taken_back->size();
    const auto parsed = std::from_chars(taken_back->data(), end, said.taken_back_in);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  }
  return Said{said.name, *theirs, *known, said.taken_back_in};
}

// What a peer has said.
struct Heard {
  std::optional<tier::Holdings> holdings{};  // nullopt: those that are known
  bool knows_us = true;
};

Task<Result<Heard>> ask_holdings(CoreState& core, const tier::Authority::Call& call) {
  PeerQuestion question;
  question.fields = fmt::format("{}: {} {} {}\r\n", http::internal::holdings, core.shared.name,
                                tier::to_text(call.own), tier::to_text(call.known));
  if (call.taken_back_in > 0) {
    question.fields += fmt::format("{}: {}\r\n", http::internal::taken_back, call.taken_back_in);
  }
  question.timeout = limits::probe_timeout;
  const auto asked = co_await ask_peer(core, call.peer, std::move(question));
  if (!asked) co_return asked.error();
  hop::Exchange* const exchange = asked->get();
  // An older replica, or one that does not take us for a member, holds nothing that we could ask
  // for.
  const auto said = exchange->head().fields.first(http::internal::holdings);
  const auto version = said ? tier::parse_holdings_version(*said) : HoldingsVersion{};
  if (!version) co_return version.error();
  const bool holds_nothing = core.shared.store.entries() == 0 && core.shared.flights.size() == 0;
  const auto done = exchange->head().fields.first(http::internal::purges_done);
  const auto ages = exchange->head().fields.first(http::internal::purge_ages);
  if (holds_nothing && done) {
    core.shared.purges.adopt(*done, ages.value_or(""), core.core.steady_now());
  }
  Heard heard{{}, !exchange->head().fields.has(http::internal::unknown_asker)};
  if (*version == call.known && said) co_return heard;

  const auto content = co_await content_of(*exchange, limits::holdings_size_bytes);
  if (!content) co_return content.error();
  if (!said) {
    heard.holdings.emplace();
    co_return heard;
  }
  auto holdings = tier::parse_holdings(*content);
  if (!holdings) co_return holdings.error();
  heard.holdings = *std::move(holdings);
  co_return heard;
}

Task<void> hear(CoreState& core, tier::Authority::Call call) {
  auto heard = co_await ask_holdings(core, call);
  const SteadyPoint now = core.core.steady_now();
  const std::string& name = call.peer.name;
  if (!heard) tell_of_peer(core, call.peer, "does not say what it holds", heard.error());
  core.shared.holders.change([&](tier::Authority& authority) {
    if (!heard) {
      const ErrorKind kind = heard.error().kind;
      const bool is_gone = kind == ErrorKind::refused || kind == ErrorKind::unresolved;
      return authority.failed(name, is_gone, now);
    }
    authority.heard_of_us(name, heard->knows_us);
    if (heard->holdings) {
      authority.heard(name, *std::move(heard->holdings), call.own, now);
    } else {
      authority.heard_again(name, call.own, now);
    }
  });
}

}  // namespace

Task<void> talk_to_peers(CoreState& core) {
  net::Waiter waiter(core.core);
  while (!core.core.stopped()) {
    const SteadyPoint now = core.core.steady_now();
    auto calls = core.shared.holders.take_calls(now, waiter.bell());
    for (auto& call : calls.due) core.core.spawn(hear(core, std::move(call)));
    co_await waiter.wait(calls.next.value_or(now + longest_pause));
  }
}

void answer_holdings(CoreState& core, const http::Fields& asked, http::Response& response) {
  const auto heard = read_said(asked);
  // Before we say what we hold: what we take from here on is none of what was taken back.
  if (heard) {
    core.shared.holders.change([&](tier::Authority& authority) {
      authority.hear_of_taking_back(heard->name, {heard->theirs.incarnation, heard->taken_back_in});
      authority.hint(heard->name, heard->theirs);
    });
  }
  HoldingsVersion version = core.shared.holders.own_version();
  std::string text;
  if (!heard || heard->known != version) {
    const tier::Holdings own = core.shared.holders.own();
    version = own.version;
    text = tier::to_text(own);
  }
  response.begin(200, http::reason_of(200));
  response.fields.add("Content-Length", fmt::to_string(text.size()));
  http::add_date(response.fields, core.core.now());
  response.fields.add(http::internal::holdings, tier::to_text(version));
  const auto [done, ages] = core.shared.purges.done_and_ages(core.core.steady_now());
  if (!done.empty()) {
    response.fields.add(http::internal::purges_done, done);
    response.fields.add(http::internal::purge_ages, ages);
  }
  if (heard && !core.shared.holders.knows(heard->name)) {
    response.fields.add(http::internal::unknown_asker, "1");
  }
  response.body = http::Body(std::move(text));
}

}  // namespace ringside::cache
