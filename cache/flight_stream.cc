#include "cache/flight_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.h"
#include "cache/conditional.h"
#include "cache/forwarded_answer.h"
#include "cache/origin.h"

namespace ringside::cache {
namespace {

bool is_the_rest(const http::ResponseHead& response, const StoredHead& head,
                 const http::ByteSpan& rest) {
  if (response.status != 206 || response.fields.count("content-range") != 1) return false;
  const auto range = http::parse_content_range(*response.fields.first("content-range"));
  const bool length_fits = response.framing.kind == http::Framing::Kind::length &&
                           response.framing.length_bytes == rest.size();
  return range && range->span == rest && length_fits &&
         same_strong_validator(head.fields(), response.fields);
}

}  // namespace

bool FlightStream::is_full() const noexcept {
  return window_.length_bytes && sent_ >= *window_.length_bytes;
}

// What of the next bytes lies in the window.
void FlightStream::add(std::string_view bytes, std::array<char, 20>& line) {
  const std::uint64_t skipped =
      std::min<std::uint64_t>(bytes.size(), window_.first - std::min(window_.first, at_));
  at_ += bytes.size();
  bytes.remove_prefix(skipped);
  if (window_.length_bytes) bytes = bytes.substr(0, *window_.length_bytes - sent_);
  if (bytes.empty()) return;
  sent_ += bytes.size();
  state_.body_bytes += bytes.size();
  if (coding_ == http::Coding::chunked) {
    buffers_.push_back(view(http::chunk_line(bytes.size(), line)));
  }
  buffers_.push_back(view(bytes));
  if (coding_ == http::Coding::chunked) buffers_.push_back(view("\r\n"));
}

Task<bool> FlightStream::run(std::string_view head) {
  while (true) {
    const auto pieces = co_await fetch_.reader().next(limits::upstream_io_timeout);
    if (!pieces) co_return co_await end_without_the_rest(pieces.error(), head);
    buffers_.assign(1, view(head));
    head = {};
    lines_.resize(pieces->size());
    for (std::size_t index = 0; index < pieces->size(); ++index) {
      add((*pieces)[index]->bytes(), lines_[index]);
    }
    const bool last = pieces->empty() || is_full();
    if (last && coding_ == http::Coding::chunked) buffers_.push_back(view(http::last_chunk));
    const bool written = co_await state_.write(buffers_);
    if (!written || last) co_return written;
  }
}

// A failed fetch cuts the connection, so that nobody takes what came for the whole.
Task<bool> FlightStream::end_without_the_rest(Error error, std::string_view unsent) {
  if (fetch_.reader().left_behind()) {
    const Relayed rest = co_await fetch_the_rest(unsent);
    if (rest != Relayed::nothing) co_return rest == Relayed::all;
  }
  if (unsent.empty()) {
    state_.cut_off();
    co_return false;
  }
  state_.status.stored = false;
  if (fetch_.reader().left_behind()) {  // by no fault of the client's: it was told nothing yet
    co_await pass_on(state_);
    co_return false;
  }
  co_await state_.refuse(std::move(error));
  co_return false;
}

Task<Relayed> FlightStream::fetch_the_rest(std::string_view unsent) {
  const auto answer = fetch_.flight().answer();
  if (!answer.length_bytes) co_return Relayed::nothing;
  const std::uint64_t base = answer.extent ? answer.extent->first_byte : 0;
  const std::uint64_t end =
      window_.length_bytes ? window_.first + *window_.length_bytes : *answer.length_bytes;
  const http::ByteSpan rest{base + std::max(at_, window_.first), base + end - 1};
  co_return co_await relay_span(state_, *answer.head, rest, coding_, unsent);
}

Task<Relayed> relay_span(RequestState& state, const StoredHead& head, const http::ByteSpan& span,
                         http::Coding coding, std::string_view unsent) {
  if (!same_strong_validator(head.fields(), head.fields())) co_return Relayed::nothing;
  const std::string range = fmt::format("bytes={}-{}", span.first, span.last);
  std::string text;
  Asking asking;
  asking.fills = true;
  asking.range = range;
  asking.same_as = &head;
  CoreState& core = state.core;
  write_origin_head(text, state.request, state.inquiry, *state.settings, core.shared.identity.via,
                    asking);
  http::OutgoingRequest outgoing;
  outgoing.method = state.inquiry.method;
  outgoing.head = text;
  http::Exchange exchange(core.core, core.origins);
  const auto asked = co_await ask_origin(core, *state.settings, state.inquiry,
                                         state.inquiry.time_allowed, exchange, outgoing);
  if (!asked || !is_the_rest(exchange.head(), head, span)) co_return Relayed::nothing;
  const http::RelayLimits limits{limits::upstream_io_timeout, limits::client_io_timeout};
  const auto relayed =
      co_await http::relay(exchange.connection(), state.client, unsent, coding, limits);
  if (!relayed) {
    core.sheet.count_error(relayed.error());
    state.cut_off();
    co_return Relayed::cut_off;
  }
  state.body_bytes += *relayed;
  exchange.finish();
  co_return Relayed::all;
}

}  // namespace ringside::cache
