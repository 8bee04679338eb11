#include "replay/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <unordered_map>

#include "base/check.h"
#include "base/limits.h"
#include "http/field_lines.h"
#include "http1/exchange.h"
#include "http1/pool.h"
#include "net/core.h"
#include "net/nap.h"

namespace ringside::replay {
struct Client::Impl {
  Impl(ClientSettings the_settings, std::span<const LogRequest> the_requests, const Clock& clock)
      : settings(std::move(the_settings)),
        requests(the_requests),
        cores("replay", 1, clock),
        pool(cores[0], ErrorSource::peer) {
    if (settings.host.empty()) settings.host = settings.to.text();
    journal.replies.resize(requests.size());
  }
  ~Impl() { cores.stop(); }  // the coroutines end before what they use

  Task<void> probe(std::promise<Result<void>>& answer);
  Task<void> work();
  Task<void> wait_for_turn(std::uint64_t index);
  Task<void> ask(const LogRequest& request, Reply& reply);
  Task<Result<void>> exchange(const LogRequest& request, Reply& reply);
  void add_fields(const LogRequest& request, http::FieldLines& fields) const;
  // What the answer says of itself where it is an error of the tier's own; else empty.
  std::string note_answer(const http::ResponseHead& head, Reply& reply);
  void count(const LogRequest& request, const Reply& reply) noexcept;
  [[nodiscard]] std::uint16_t cache_index(const std::string& name);
  void tell_waiting();

  ClientSettings settings;
  const std::span<const LogRequest> requests;
  net::CoreGroup cores;

  // The core's thread alone, until it has been joined.
  http::Pool pool;
  Journal journal;
  std::unordered_map<std::string, std::uint16_t> cache_indices;
  std::uint64_t next = 0;
  std::size_t workers = 0;
  SteadyPoint started;

  // Any thread. Written by the core's alone, so no increment is lost.
  std::atomic<std::uint64_t> sent{0}, answered{0}, gets{0}, get_hits{0}, errors{0};
  std::atomic<std::uint64_t> wake_at{UINT64_MAX};  // `sent` that somebody waits for
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;  // under the mutex
};

Task<void> Client::Impl::probe(std::promise<Result<void>>& answer) {
  const SteadyPoint deadline = cores[0].steady_now() + limits::connect_timeout;
  auto lease = co_await pool.connect(settings.to, deadline);
  if (lease) {
    pool.give_back(settings.to, std::move(*lease));
    answer.set_value(Result<void>());
  } else {
    answer.set_value(lease.error());
  }
}

Task<void> Client::Impl::work() {
  while (next < requests.size() && !cores[0].stopped()) {
    const std::uint64_t index = next++;
    if (settings.rate_per_second != 0) co_await wait_for_turn(index);
    if (cores[0].stopped()) break;
    // Counted, then looked; who waits says for what, then looks: one of the two sees the other's.
    const std::uint64_t now_sent = sent.fetch_add(1) + 1;
    if (now_sent == wake_at.load()) tell_waiting();
    Reply& reply = journal.replies[static_cast<std::size_t>(index)];
    const LogRequest& request = requests[static_cast<std::size_t>(index)];
    co_await ask(request, reply);
    count(request, reply);
  }
  if (--workers == 0) {
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_all();
  }
}

// The index-th request is due index/rate seconds after the start. Who is late does not wait.
Task<void> Client::Impl::wait_for_turn(std::uint64_t index) {
  const std::chrono::microseconds offset(index * 1'000'000 / settings.rate_per_second);
  const SteadyPoint due = started + offset;
  const SteadyPoint now = cores[0].steady_now();
  if (due <= now) co_return;
  co_await net::nap(cores[0], due - now);
}

Task<void> Client::Impl::ask(const LogRequest& request, Reply& reply) {
  const SteadyPoint begin = cores[0].steady_now();
  const auto answered_whole = co_await exchange(request, reply);
  const auto took = std::max<std::int64_t>((cores[0].steady_now() - begin).count(), 0);
  reply.latency_us = static_cast<std::uint32_t>(std::min<std::int64_t>(took, UINT32_MAX));
  if (answered_whole) co_return;
  reply.failure = answered_whole.error().kind;
  journal.count_error("no answer: " + answered_whole.error().message);
}

Task<Result<void>> Client::Impl::exchange(const LogRequest& request, Reply& reply) {
  net::Core& core = cores[0];
  http::FieldLines fields;
  add_fields(request, fields);
  const http::Target target{request.target, {}, false};  // as it stands in the log
  hop::UpstreamRequest outgoing;
  outgoing.method = request.method;
  outgoing.target = &target;
  outgoing.host = settings.host;
  outgoing.fields = fields.text();
  const SteadyPoint deadline = core.steady_now() + settings.answer_timeout;
  const hop::UpstreamLimits waits{limits::connect_timeout, settings.answer_timeout, deadline,
                                  deadline};
  http::Exchange one(core, pool);
  const auto asked = co_await one.ask(settings.to, outgoing, waits);
  if (!asked) co_return asked.error();
  const std::string tier_error = note_answer(one.head(), reply);
  for (bool last = false; !last;) {
    const auto pulled = co_await one.pull();
    if (!pulled) co_return pulled.error();
    for (const std::string_view piece : pulled->pieces) reply.body_bytes += piece.size();
    last = pulled->last;
  }
  if (!tier_error.empty()) journal.count_error(tier_error);
  co_return Result<void>();
}

void Client::Impl::add_fields(const LogRequest& request, http::FieldLines& fields) const {
  const std::string client = request.client.text();
  fields.add("User-Agent", "ringside-replay/" RINGSIDE_VERSION);
  fields.add("Accept", "*/*");
  if (settings.client_field == ClientField::x_forwarded_for) {
    fields.add("X-Forwarded-For", client);
  } else {  // RFC 7239 §6
    fields.add("Forwarded", request.client.is_v4() ? fmt::format("for={}", client)
                                                   : fmt::format("for=\"[{}]\"", client));
  }
  // A log has no bodies. Where the method expects one, its absence is said (RFC 9110 §8.6).
  if (request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    fields.add("Content-Length", "0");
  }
}

std::string Client::Impl::note_answer(const http::ResponseHead& head, Reply& reply) {
  reply.status = static_cast<std::uint16_t>(head.status);
  const auto cache_status = head.fields.combined("Cache-Status");
  const auto served = parse_served_by(cache_status.value_or(""));
  if (served) {
    reply.cache = cache_index(served->cache);
    reply.outcome = served->outcome;
  }
  const auto proxy_status = head.fields.combined("Proxy-Status");
  reply.tier_error = is_tier_error(head.status, served, proxy_status.value_or(""));
  return reply.tier_error ? tier_error_text(head.status, proxy_status.value_or("")) : "";
}

std::uint16_t Client::Impl::cache_index(const std::string& name) {
  const auto known = cache_indices.find(name);
  if (known != cache_indices.end()) return known->second;
  // Whoever answers may make up names; from some point on they share one.
  const bool full = journal.caches.size() >= limits::replay_caches;
  if (full && journal.caches.back() == "(others)") {
    return static_cast<std::uint16_t>(journal.caches.size() - 1);
  }
  journal.caches.push_back(full ? "(others)" : name);
  const auto index = static_cast<std::uint16_t>(journal.caches.size() - 1);
  cache_indices.emplace(journal.caches.back(), index);
  return index;
}

void Client::Impl::count(const LogRequest& request, const Reply& reply) noexcept {
  const auto add = [](std::atomic<std::uint64_t>& counter, bool condition) {
    if (condition) counter.fetch_add(1, std::memory_order_relaxed);
  };
  const bool is_get = request.method == "GET";
  add(errors, reply.is_error());
  add(gets, is_get && !reply.is_error());
  add(get_hits, is_get && reply.is_hit());
  add(answered, true);
}

void Client::Impl::tell_waiting() {
  const std::lock_guard lock(mutex);  // so that nobody is between looking and waiting
  changed.notify_all();
}

Client::Client(ClientSettings settings, std::span<const LogRequest> requests, const Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(settings), requests, clock)) {
  RINGSIDE_CHECK(impl_->settings.concurrency >= 1);
  RINGSIDE_CHECK(impl_->settings.concurrency <= limits::replay_concurrency);
}

Client::~Client() = default;

Result<void> Client::start() {
  net::Core& core = impl_->cores[0];
  std::promise<Result<void>> probed;
  auto answer = probed.get_future();
  core.spawn(impl_->probe(probed));
  impl_->cores.start();
  if (auto connected = answer.get(); !connected) return connected;
  impl_->cores.on_each([this](net::Core& its) {
    impl_->started = its.steady_now();
    impl_->workers = std::max<std::size_t>(
        1, std::min<std::size_t>(impl_->settings.concurrency, impl_->requests.size()));
    for (std::size_t i = 0, count = impl_->workers; i < count; ++i) {
      its.spawn(impl_->work());
    }
  });
  return {};
}

Client::Progress Client::progress() const noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  return {impl_->sent.load(relaxed), impl_->answered.load(relaxed), impl_->gets.load(relaxed),
          impl_->get_hits.load(relaxed), impl_->errors.load(relaxed)};
}

bool Client::wait_until_sent(std::uint64_t requests, Milliseconds most) {
  std::unique_lock lock(impl_->mutex);
  impl_->wake_at.store(requests);
  return impl_->changed.wait_for(lock, most,
                                 [&] { return impl_->done || impl_->sent.load() >= requests; });
}

bool Client::wait_until_done(Milliseconds most) {
  std::unique_lock lock(impl_->mutex);
  return impl_->changed.wait_for(lock, most, [&] { return impl_->done; });
}

Journal Client::finish() {
  {
    std::unique_lock lock(impl_->mutex);
    impl_->changed.wait(lock, [&] { return impl_->done; });
  }
  impl_->cores.stop();
  return std::move(impl_->journal);
}

}  // namespace ringside::replay
