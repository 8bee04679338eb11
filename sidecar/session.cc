#include "sidecar/session.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/limits.h"
#include "http/cache_control.h"
#include "http1/error_response.h"
#include "http1/head_text.h"
#include "http1/relay.h"
#include "http1/tunnel.h"
#include "http1/turn.h"
#include "sidecar/invalidation.h"
#include "sidecar/messages.h"
#include "sidecar/purge.h"

namespace ringside::sidecar {
namespace {

using Forward = http::CacheStatus::Forward;

std::int64_t number(std::string_view digits) noexcept {
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end && value > 0 ? value : 0;
}

// Whether a replica would have looked for this in its store and fetched it for everybody: what the
// hit rate counts. Requires that the request's body was not read.
bool is_for_the_store(const http::RequestHead& request, std::string_view method) {
  return method == "GET" && request.framing.kind == http::Framing::Kind::none &&
         !request.fields.has("range") && !http::parse_request_directives(request.fields).no_store;
}

}  // namespace

Session::Session(CoreState& state, http::Connection& client) : state_(state), client_(client) {
  state_.sheet.connection_opened();
}

Session::~Session() { state_.sheet.connection_closed(); }

// The life of a request; the numbers are those of docs/ARCHITECTURE.md.
Task<void> Session::run() {
  if (any_contains(state_.snapshot->settings->proxied_from, client_.remote())) {
    const auto told = co_await http::read_proxy_header(client_);
    if (!told) co_return;
  }
  while (keep_alive_) {
    const auto next = co_await http::next_request(client_, request_);  // 1
    if (next && !*next) co_return;
    const SteadyPoint began = state_.core.steady_now();
    snapshot_ = state_.snapshot;
    count_ = {};
    decision_.method.clear();
    decision_.country = {};
    decision_.client = client_.remote();
    begin_record(next.has_value());
    const auto looked = next ? look() : Result<void>(next.error());  // 2 to 5
    if (!looked) {
      co_await refuse(looked.error());
    } else if (decision_.hop.answer_here) {
      co_await answer_options();
    } else if (decision_.method == "PURGE") {
      co_await purge();
    } else if (const auto* entry = find_nearby()) {  // 6
      co_await answer_nearby(*entry);
    } else {
      co_await answer_from_replica();  // 7 to 9
    }
    count(began);
    keep_alive_ = keep_alive_ && client_.body_done();
  }
  co_await http::end_connection(client_);
}

// Everything that can be known of the request without asking anybody.
Result<void> Session::look() {
  keep_alive_ = request_.keep_alive && ++requests_ < snapshot_->settings->requests_per_connection;
  decision_.method = request_.method;
  if (auto admitted = http::admit(state_.core, request_); !admitted) return admitted;
  auto decided = decide(request_, client_.remote(), *snapshot_->settings, snapshot_->identity.via,
                        state_.countries, decision_);
  ask_near_cache_ = decided && !decision_.hop.answer_here &&
                    decision_.route->near_ttl.count() > 0 && may_be_answered_nearby(request_);
  if (ask_near_cache_) {
    near_key_.assign(name(decision_.scheme)).append("\n").append(decision_.host);
    near_key_.append("\n").append(decision_.target.path);
    near_key_.append(decision_.target.has_query ? "?" : "").append(decision_.target.query);
    near_key_.append("\n").append(decision_.extra_key);
  }
  return decided;
}

const NearCache::Entry* Session::find_nearby() {
  return ask_near_cache_ ? state_.near.find(near_key_, state_.core.steady_now()) : nullptr;
}

// Where there is nothing else to say, we handle requests and are configured not to store what comes
// of them: RFC 9211 §2.2, `bypass`.
http::CacheStatus Session::own_status(Forward why) const noexcept {
  http::CacheStatus status;
  status.cache = snapshot_->identity.name;
  status.forward = why;
  return status;
}

Task<void> Session::answer_nearby(const NearCache::Entry& entry) {
  const auto delivery =
      http::choose_delivery(request_.minor_version, true, keep_alive_ && !state_.core.draining());
  keep_alive_ = delivery.keep_alive;
  const auto kept =
      std::chrono::duration_cast<Seconds>(state_.core.steady_now() - entry.stored).count();
  head_ = entry.head;
  fmt::format_to(std::back_inserter(head_), "Age: {}\r\n", entry.age_s + kept);
  end_client_head(head_, request_.minor_version, delivery);
  count_ = {entry.shard, metrics::Outcome::hit, entry.body->size()};
  const auto body = entry.body;  // The entry may be evicted while we write.
  co_await write(head_, *body);
}

Task<void> Session::answer_from_replica() {
  const std::uint64_t asked_at = state_.near.purges();
  Forwarding forwarding(state_, *snapshot_, decision_);
  const auto forwarded = co_await forwarding.run(request_, client_, head_);
  if (!forwarded) {
    co_await refuse(forwarded.error());
    co_return;
  }
  const auto member = forwarding.answered_by();
  if (forwarding.exchange().head().status == 101) {
    count_.outcome = metrics::Outcome::bypass;
    if (member) count_.shard = snapshot_->shards[*member];
    co_await carry_tunnel(forwarding);
    co_return;
  }
  // RFC 9111 §4.4: whoever has seen this answer may not be given anything older.
  if (!http::is_safe(decision_.method)) {
    const http::ResponseHead& answer = forwarding.exchange().head();
    co_await invalidate_elsewhere(state_, *snapshot_, decision_, answer, member);
  }
  if (!member) {  // What an origin says in our own fields is not heard.
    const bool missed = is_for_the_store(request_, decision_.method);
    count_.outcome = missed ? metrics::Outcome::miss : metrics::Outcome::bypass;
    // The tier has a cache for it, but none that could be asked: one implementation, one miss.
    co_await relay_answer(forwarding, missed ? Forward::miss : Forward::bypass);
    co_return;
  }
  count_.shard = snapshot_->shards[*member];
  if (state_.access_log) record_.replica = snapshot_->settings->membership->name(*member);
  const http::Fields& fields = forwarding.exchange().head().fields;
  count_.outcome =
      metrics::outcome_from(read_notes(fields).outcome).value_or(metrics::Outcome::bypass);
  if (const auto ttl = near_ttl(fields); ttl.count() > 0) {
    co_await keep_and_answer(forwarding, ttl, asked_at);
  } else {
    co_await relay_answer(forwarding, Forward::bypass);
  }
}

Task<void> Session::relay_answer(Forwarding& forwarding, Forward why) {
  http::Exchange& exchange = forwarding.exchange();
  record_.status = exchange.head().status;
  const auto delivery =
      http::choose_delivery(request_.minor_version, http::length_is_known(exchange.head().framing),
                            keep_alive_ && client_.body_done() && !state_.core.draining());
  keep_alive_ = delivery.keep_alive;
  begin_client_head(head_, exchange.head(), state_.core.now(), own_status(why));
  end_client_head(head_, request_.minor_version, delivery);
  std::string_view head = head_;
  const http::RelayLimits relay_limits{limits::upstream_io_timeout, limits::client_io_timeout};
  const auto relayed =
      co_await http::relay(exchange.connection(), client_, head, delivery.coding, relay_limits);
  if (relayed) {
    count_.body_bytes = *relayed;
    exchange.finish();
    co_return;
  }
  if (!head.empty() && relayed.error().source != ErrorSource::client) {
    co_await refuse(relayed.error());
    co_return;
  }
  state_.sheet.count_error(relayed.error());
  keep_alive_ = false;
  client_.reset_on_close();
}

// For how long this answer may be given again from here; 0: not at all.
Milliseconds Session::near_ttl(const http::Fields& fields) const noexcept {
  if (!ask_near_cache_) return Milliseconds{0};
  // The replica doesn't say so of answers that have something of one client's; but what is wrong
  // here is wrong for everybody.
  const auto said = http::parse_response_directives(fields);
  if (said.is_private || said.no_store || fields.has("set-cookie")) return Milliseconds{0};
  return std::min(decision_.route->near_ttl, Milliseconds{number(read_notes(fields).near_ttl_ms)});
}

Task<void> Session::keep_and_answer(Forwarding& forwarding, Milliseconds ttl,
                                    std::uint64_t asked_at) {
  http::Exchange& exchange = forwarding.exchange();
  const http::Framing framing = exchange.head().framing;
  if (framing.kind != http::Framing::Kind::length ||
      framing.length_bytes > limits::near_object_size_bytes) {
    co_await relay_answer(forwarding, Forward::bypass);
    co_return;
  }
  NearCache::Entry entry;
  entry.stored = state_.core.steady_now();  // not after the body: that may be long in coming
  entry.until = entry.stored + ttl;
  entry.shard = count_.shard;
  entry.age_s = number(exchange.head().fields.first("age").value_or("0"));
  const TimePoint now = state_.core.now();
  auto nearby = own_status(Forward::none);
  nearby.hit = true;
  begin_client_head(entry.head, exchange.head(), now, nearby, "age");
  begin_client_head(head_, exchange.head(), now, own_status(Forward::bypass));
  const auto delivery =
      http::choose_delivery(request_.minor_version, true, keep_alive_ && !state_.core.draining());
  keep_alive_ = delivery.keep_alive;
  end_client_head(head_, request_.minor_version, delivery);

  std::string body;
  exchange.connection().set_deadline(limits::upstream_io_timeout);
  while (!exchange.connection().body_done()) {
    const auto piece = co_await exchange.connection().read_body();
    if (!piece) {
      co_await refuse(piece.error());
      co_return;
    }
    body += *piece;
  }
  exchange.finish();
  entry.body = std::make_shared<const std::string>(std::move(body));
  count_.body_bytes = entry.body->size();
  const auto sent = entry.body;
  state_.near.store(near_key_, std::move(entry), asked_at);
  co_await write(head_, *sent);
}

// The connection becomes WebSocket's (RFC 9110 §7.8) and ends with it.
Task<void> Session::carry_tunnel(Forwarding& forwarding) {
  http::Exchange& exchange = forwarding.exchange();
  keep_alive_ = false;
  begin_client_head(head_, exchange.head(), state_.core.now(), own_status(Forward::bypass));
  http::append_upgrade(head_);
  record_.status = exchange.head().status;
  head_.append("\r\n");
  const std::array<std::string_view, 1> head{head_};
  const auto written = co_await client_.write(head, limits::client_io_timeout);
  if (!written) co_return;
  const auto carried =
      co_await http::tunnel(client_, exchange.connection(), limits::tunnel_idle_timeout);
  count_.body_bytes = carried.down;
}

// RFC 9110 §9.3.7, §7.6.2: asked of us, not of what is behind us.
Task<void> Session::answer_options() {
  keep_alive_ = keep_alive_ && client_.body_done() && !state_.core.draining();
  count_.outcome = metrics::Outcome::bypass;
  const std::string answer = http::options_response(state_.core.now(), !keep_alive_);
  co_await write(answer, {});
}

Task<void> Session::purge() {
  const Settings& settings = *snapshot_->settings;
  if (!any_contains(settings.purge_from, client_.remote())) {
    const Error forbidden{ErrorKind::forbidden, ErrorSource::client, Retry::no,
                          "PURGE is not allowed from " + client_.remote().text() +
                              "; see `purge_from` in the configuration"};
    co_await refuse(forbidden);
    co_return;
  }
  const PurgeReport report =
      co_await purge_replicas(state_, *snapshot_, decision_.host, decision_.target.text());
  keep_alive_ = keep_alive_ && client_.body_done() && !state_.core.draining();
  count_.outcome = metrics::Outcome::bypass;
  co_await write(purge_response(report, keep_alive_), {});
}

// The error as a response; the connection goes on where nothing of the request is left unread.
Task<void> Session::refuse(const Error& error) {
  keep_alive_ = keep_alive_ && client_.body_done() && !state_.core.draining() &&
                error.source != ErrorSource::client;
  state_.sheet.count_error(error);
  count_.outcome = metrics::Outcome::error;
  std::string cache_status;
  http::append_cache_status(cache_status, own_status(Forward::bypass));
  http::ErrorResponse how;
  how.proxy = snapshot_->identity.name;
  how.cache_status = cache_status;
  how.now = state_.core.now();
  how.close = !keep_alive_;
  how.head_only = decision_.method == "HEAD";
  co_await write(http::error_response(error, how), {});
}

Task<void> Session::write(std::string_view head, std::string_view body) {
  record_.status = http::status_of(head);
  const std::array<std::string_view, 2> buffers{head, body};
  client_.set_deadline(limits::client_io_timeout);
  const auto written = co_await client_.write(buffers);
  if (!written) {
    keep_alive_ = false;
    client_.reset_on_close();  // nobody shall take the part for the whole
  }
}

void Session::begin_record(bool head_was_read) {
  record_.status = 0;  // noted with or without a log
  if (state_.access_log == nullptr) return;
  record_.begin(state_.core.now(), client_.remote(), head_was_read ? &request_ : nullptr);
}

void Session::count(SteadyPoint began) noexcept {
  const auto duration = state_.core.steady_now() - began;
  const auto country = decision_.country.code();
  state_.sheet.count_request(count_.shard, country, count_.outcome, duration, count_.body_bytes);
  if (state_.access_log == nullptr) return;
  record_.client = decision_.client;
  record_.end(metrics::name(count_.outcome), country, duration, count_.body_bytes);
  state_.access_log->write(record_);
}

}  // namespace ringside::sidecar
