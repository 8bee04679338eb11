#include "cache/session.h"

#include <fmt/format.h>

#include <array>

#include "base/limits.h"
#include "cache/conditional.h"
#include "cache/origin.h"
#include "http/error_response.h"
#include "http/head_text.h"
#include "http/internal_fields.h"
#include "http/relay.h"
#include "http/tunnel.h"
#include "http/turn.h"

namespace ringside::cache {
namespace {

namespace asio = http::asio;
using Forward = http::CacheStatus::Forward;

constexpr std::string_view outcome_is_error = "Ringside-Outcome: error\r\n";

asio::const_buffer view(std::string_view bytes) noexcept { return {bytes.data(), bytes.size()}; }

// Why a request had to go forward (RFC 9211 §2.2).
Forward forward_reason(const Inquiry& inquiry, const Store::Found& found) noexcept {
  if (inquiry.method != "GET" && inquiry.method != "HEAD") return Forward::method;
  if (!inquiry.may_fill_store) return Forward::bypass;
  if (!found.response) return found.vary.empty() ? Forward::uri_miss : Forward::vary_miss;
  return inquiry.directives.no_cache ? Forward::request : Forward::stale;
}

// RFC 9111 §5.2.1.7
Error nothing_usable() {
  return {ErrorKind::timeout, ErrorSource::ourselves, Retry::no,
          "only-if-cached, and nothing usable is stored"};
}

}  // namespace

Session::Session(CoreState& state, http::Connection& client) : state_(state), client_(client) {
  state_.sheet.connection_opened();
}

Session::~Session() { state_.sheet.connection_closed(); }

// The replica's half of the life of a request; the letters are those of docs/ARCHITECTURE.md.
http::Task<void> Session::run() {
  while (keep_alive_) {
    const auto next = co_await http::next_request(client_, request_);  // a
    if (next && !*next) co_return;
    const SteadyPoint began = state_.core.steady_now();
    begin(next.has_value());
    const auto looked = next ? look() : Result<void>(next.error());  // b
    if (!looked) {
      co_await refuse(looked.error());
    } else if (inquiry_.hop.answer_here) {
      co_await answer_options();
    } else if (inquiry_.method == "PURGE") {
      co_await purge();
    } else if (auto stored = find_usable()) {  // c, d
      co_await answer_stored(std::move(stored));
    } else if (inquiry_.may_use_store && inquiry_.directives.only_if_cached) {
      const Error nothing = nothing_usable();
      co_await refuse(nothing);
    } else if (inquiry_.may_fill_store) {
      co_await answer_shared();  // e to g
    } else {
      co_await pass_on();
    }
    count(began);
    keep_alive_ = keep_alive_ && client_.body_done();
  }
  co_await http::end_connection(client_);
}

void Session::begin(bool head_was_read) {
  inquiry_.method.clear();
  inquiry_.country.clear();
  inquiry_.from_sidecar = false;
  status_ = {};
  status_.cache = state_.shared.name;
  status_.forward = Forward::bypass;
  outcome_ = metrics::Outcome::error;
  body_bytes_ = 0;
  found_ = {};
  if (state_.access_log == nullptr) return;
  record_.begin(state_.core.now(), client_.remote(), head_was_read ? &request_ : nullptr);
  record_.replica = state_.shared.name;
}

Result<void> Session::look() {
  settings_ = state_.settings;
  keep_alive_ = request_.keep_alive && ++requests_ < settings_->requests_per_connection;
  inquiry_.method = request_.method;
  if (auto admitted = http::admit(state_.core, request_); !admitted) return admitted;
  auto understood = inquire(request_, *settings_, state_.shared.via, inquiry_);
  if (understood) status_.forward = forward_reason(inquiry_, found_);
  return understood;
}

// A stored response that may be given without asking anybody.
StoredPointer Session::find_usable() {
  if (!inquiry_.may_use_store) return nullptr;
  found_ = state_.shared.store.find(inquiry_.key, request_.fields);
  const Verdict verdict = judge(found_.response ? &found_.response->head->freshness() : nullptr,
                                inquiry_.directives, state_.core.now());
  status_.forward = forward_reason(inquiry_, found_);
  if (verdict != Verdict::fresh && verdict != Verdict::stale) return nullptr;
  status_.hit = true;
  status_.forward = Forward::none;
  outcome_ = verdict == Verdict::fresh ? metrics::Outcome::hit : metrics::Outcome::stale;
  return found_.response;
}

AnswerNotes Session::notes() const noexcept {
  AnswerNotes notes;
  notes.status = status_;
  notes.outcome = outcome_;
  notes.to_sidecar = inquiry_.from_sidecar;
  notes.keep_alive = keep_alive_ && !state_.core.draining();
  notes.client_minor_version = request_.minor_version;
  return notes;
}

http::Task<void> Session::answer_stored(StoredPointer stored) {
  const TimePoint now = state_.core.now();
  const Freshness& freshness = stored->head->freshness();
  const Seconds left = time_to_live(freshness, now);
  status_.ttl_seconds = left.count();
  AnswerNotes notes = this->notes();
  notes.age = age(freshness, now);
  keep_alive_ = notes.keep_alive;
  const bool not_modified = stored->head->status() == 200 &&
                            is_not_modified(request_.fields, stored->head->fields(), now);
  const bool body_follows = !not_modified && inquiry_.method == "GET";
  if (not_modified) {
    begin_not_modified_head(head_, *stored->head);
  } else {
    head_ = stored->head->text();
    if (stored->head->status() != 204) notes.length_bytes = stored->body->size_bytes;
    if (stored->head->vary().empty() && !freshness.no_cache && left > Seconds{0}) {
      notes.near_ttl = left;
    }
  }
  end_head(head_, notes);
  if (stored->body->pieces.size() <= 1) {
    const std::array<asio::const_buffer, 2> buffers{
        view(head_),
        view(body_follows && !stored->body->pieces.empty() ? stored->body->pieces.front()->bytes()
                                                           : std::string_view{})};
    co_await write(buffers);
  } else {
    std::vector<asio::const_buffer> buffers{view(head_)};
    for (const PiecePointer& piece : stored->body->pieces) {
      if (body_follows) buffers.push_back(view(piece->bytes()));
    }
    co_await write(buffers);
  }
  if (body_follows) body_bytes_ = stored->body->size_bytes;
}

http::Task<void> Session::answer_shared() {
  SharedFetch fetch(state_, *settings_, request_, inquiry_, found_,
                    request_.minor_version >= 1 ? &client_ : nullptr);
  const auto way = co_await fetch.run(head_);
  status_.collapsed = !fetch.led();
  status_.forward_status = fetch.origin_status();
  switch (way) {
    case SharedFetch::Way::stream:
      status_.stored = true;
      outcome_ = fetch.led() ? metrics::Outcome::miss : metrics::Outcome::collapsed;
      co_await answer_from_flight(fetch);
      break;
    case SharedFetch::Way::stored:
      status_.stored = fetch.led();
      outcome_ = fetch.led() ? metrics::Outcome::revalidated : metrics::Outcome::collapsed;
      co_await answer_stored(fetch.response());
      break;
    case SharedFetch::Way::relay:
      outcome_ = metrics::Outcome::miss;
      status_.detail = name(fetch.storability());
      co_await relay_answer(fetch.exchange());
      break;
    case SharedFetch::Way::alone:
      co_await pass_on();
      break;
    case SharedFetch::Way::failed:
      co_await refuse(fetch.error());
      break;
  }
}

http::Task<void> Session::answer_from_flight(SharedFetch& fetch) {
  const auto stored = fetch.flight().head();
  AnswerNotes notes = this->notes();
  const Seconds current_age = age(stored->freshness(), state_.core.now());
  if (current_age > Seconds{0}) notes.age = current_age;
  if (is_not_modified(request_.fields, stored->fields(), state_.core.now()) &&
      stored->status() == 200) {
    begin_not_modified_head(head_, *stored);
    end_head(head_, notes);
    const std::array<asio::const_buffer, 1> buffers{view(head_)};
    keep_alive_ = notes.keep_alive;
    co_await write(buffers);
    co_return;
  }
  head_ = stored->text();
  const auto length_bytes = fetch.flight().length_bytes();
  const auto delivery =
      http::choose_delivery(request_.minor_version, length_bytes.has_value(), notes.keep_alive);
  notes.coding = delivery.coding;
  notes.keep_alive = keep_alive_ = delivery.keep_alive;
  if (stored->status() != 204) notes.length_bytes = length_bytes;
  end_head(head_, notes);
  co_await stream(fetch.reader(), notes.coding);
}

// The head, then the pieces as they come. A failed fetch cuts the connection, so that nobody takes
// what came for the whole.
http::Task<void> Session::stream(Flight::Reader& reader, http::Coding coding) {
  const bool chunked = coding == http::Coding::chunked;
  std::string_view head = head_;
  std::vector<asio::const_buffer> buffers;
  std::vector<std::array<char, 20>> lines;
  while (true) {
    const auto pieces = co_await reader.next(limits::upstream_io_timeout);
    if (!pieces && !head.empty()) {
      status_.stored = false;
      co_await refuse(pieces.error());
      co_return;
    }
    if (!pieces) {
      keep_alive_ = false;
      client_.reset_on_close();
      co_return;
    }
    buffers.assign(1, view(head));
    head = {};
    lines.resize(pieces->size());
    for (std::size_t index = 0; index < pieces->size(); ++index) {
      const auto bytes = (*pieces)[index]->bytes();
      body_bytes_ += bytes.size();
      if (chunked) buffers.push_back(view(http::chunk_line(bytes.size(), lines[index])));
      buffers.push_back(view(bytes));
      if (chunked) buffers.push_back(view("\r\n"));
    }
    const bool last = pieces->empty();
    if (last && chunked) buffers.push_back(view(http::last_chunk));
    if (!co_await write(buffers) || last) co_return;
  }
}

http::Task<void> Session::pass_on() {
  auto outgoing = http::passed_on(request_, inquiry_.hop, inquiry_.method, client_);
  write_origin_head(head_, request_, inquiry_, *settings_, state_.shared.via, Asking::as_it_is,
                    nullptr);
  outgoing.head = head_;
  http::Exchange exchange(state_.core, state_.origins);
  const auto answered =
      co_await ask_origin(state_, *settings_, inquiry_, inquiry_.time_allowed, exchange, outgoing);
  status_.collapsed = false;
  if (!answered) {
    co_await refuse(answered.error());
    co_return;
  }
  status_.forward_status = exchange.head().status;
  if (exchange.head().status == 101) {
    co_await carry_tunnel(exchange);
    co_return;
  }
  // A miss where the store had been asked: only what it has no say in stays out of the hit rate.
  outcome_ = inquiry_.may_fill_store ? metrics::Outcome::miss : metrics::Outcome::bypass;
  // RFC 9111 §4.4: a successful unsafe method makes what is stored for its URI invalid.
  const bool succeeded = exchange.head().status >= 200 && exchange.head().status < 400;
  if (!http::is_safe(inquiry_.method) && succeeded) invalidate_shared(state_.shared, inquiry_.key);
  co_await relay_answer(exchange);
}

// The connection becomes WebSocket's (RFC 9110 §7.8) and ends with it.
http::Task<void> Session::carry_tunnel(http::Exchange& exchange) {
  outcome_ = metrics::Outcome::bypass;
  keep_alive_ = false;
  begin_forwarded_head(head_, exchange.head(), state_.core.now(), state_.shared.name);
  http::append_upgrade(head_);
  record_.status = exchange.head().status;
  head_.append("\r\n");
  const std::array<asio::const_buffer, 1> head{view(head_)};
  if (!co_await write(head)) co_return;
  constexpr Milliseconds idle = limits::tunnel_idle_timeout;
  body_bytes_ = (co_await http::tunnel(client_, exchange.connection(), idle)).down;
}

http::Task<void> Session::relay_answer(http::Exchange& exchange) {
  AnswerNotes notes = this->notes();
  const auto delivery =
      http::choose_delivery(request_.minor_version, http::length_is_known(exchange.head().framing),
                            notes.keep_alive && client_.body_done());
  notes.coding = delivery.coding;
  notes.keep_alive = keep_alive_ = delivery.keep_alive;
  begin_forwarded_head(head_, exchange.head(), state_.core.now(), state_.shared.name);
  end_head(head_, notes);
  record_.status = exchange.head().status;
  std::string_view head = head_;
  const http::RelayLimits relay_limits{limits::upstream_io_timeout, limits::client_io_timeout};
  const auto relayed =
      co_await http::relay(exchange.connection(), client_, head, notes.coding, relay_limits);
  if (relayed) {
    body_bytes_ = *relayed;
    exchange.finish();
    co_return;
  }
  state_.sheet.count_error(relayed.error().source);
  if (!head.empty() && relayed.error().source != ErrorSource::client) {
    co_await refuse(relayed.error());
    co_return;
  }
  keep_alive_ = false;
  client_.reset_on_close();
}

// RFC 9110 §9.3.7, §7.6.2: asked of us, not of the origin. A sidecar's probe, for one.
http::Task<void> Session::answer_options() {
  keep_alive_ = keep_alive_ && client_.body_done() && !state_.core.draining();
  outcome_ = metrics::Outcome::bypass;
  head_ = http::options_response(state_.core.now(), !keep_alive_);
  const std::array<asio::const_buffer, 1> buffers{view(head_)};
  co_await write(buffers);
}

http::Task<void> Session::purge() {
  if (!any_contains(settings_->purge_from, client_.remote())) {
    const Error forbidden{ErrorKind::forbidden, ErrorSource::client, Retry::no,
                          "PURGE is not allowed from " + client_.remote().text() +
                              "; see `purge_from` in the configuration"};
    co_await refuse(forbidden);
    co_return;
  }
  const auto target = inquiry_.target.text();
  const std::size_t removed = purge_shared(
      state_.shared, target == "*" ? std::string{} : uri_prefix(inquiry_.host, target));
  outcome_ = metrics::Outcome::bypass;
  keep_alive_ = keep_alive_ && client_.body_done() && !state_.core.draining();
  head_ = purge_response(removed, keep_alive_, state_.core.now());
  const std::array<asio::const_buffer, 1> buffers{view(head_)};
  co_await write(buffers);
}

// The error as a response; the connection goes on where nothing of the request is left unread.
http::Task<void> Session::refuse(const Error& error) {
  keep_alive_ = keep_alive_ && client_.body_done() && !state_.core.draining() &&
                error.source != ErrorSource::client;
  if (error.source == ErrorSource::client) state_.sheet.count_error(error.source);
  outcome_ = metrics::Outcome::error;
  std::string status;
  http::append_cache_status(status, status_);
  http::ErrorResponse how;
  how.proxy = state_.shared.name;
  how.cache_status = status;
  how.now = state_.core.now();
  if (inquiry_.from_sidecar) how.more_lines = outcome_is_error;
  how.close = !keep_alive_;
  how.head_only = inquiry_.method == "HEAD";
  head_ = http::error_response(error, how);
  const std::array<asio::const_buffer, 1> buffers{view(head_)};
  co_await write(buffers);
}

// False: the client is gone.
http::Task<bool> Session::write(std::span<const asio::const_buffer> buffers) {
  record_.status = http::status_of(head_);
  const auto written = co_await client_.write(buffers, limits::client_io_timeout);
  if (!written) {
    keep_alive_ = false;
    client_.reset_on_close();  // nobody shall take the part for the whole
  }
  co_return written.has_value();
}

void Session::count(SteadyPoint began) noexcept {
  const auto duration = state_.core.steady_now() - began;
  state_.sheet.count_request(0, inquiry_.country, outcome_, duration, body_bytes_);
  if (state_.access_log == nullptr) return;
  record_.end(metrics::name(outcome_), inquiry_.country, duration, body_bytes_);
  state_.access_log->write(record_);
}

}  // namespace ringside::cache
