#include "cache/request_state.h"

#include <array>

#include "base/limits.h"
#include "http1/error_response.h"
#include "http1/head_text.h"

namespace ringside::cache {
namespace {

constexpr std::string_view outcome_is_error = "Ringside-Outcome: error\r\n";

}  // namespace

void RequestState::begin(bool head_was_read) {
  inquiry.method.clear();
  inquiry.country.clear();
  inquiry.from_sidecar = false;
  status = {};
  status.cache = core.shared.identity.name;
  status.forward = http::CacheStatus::Forward::bypass;
  outcome = metrics::Outcome::error;
  body_bytes = 0;
  is_what_is_stored = true;
  found = {};
  own_lines.clear();
  record.status = 0;  // noted with or without a log
  if (core.access_log == nullptr) return;
  record.begin(core.core.now(), client.remote(), head_was_read ? &request : nullptr);
  record.replica = core.shared.identity.name;
}

AnswerNotes RequestState::notes() const noexcept {
  AnswerNotes notes;
  notes.status = status;
  notes.outcome = outcome;
  notes.to_sidecar = inquiry.from_sidecar;
  notes.own_lines = own_lines;
  notes.keep_alive = keep_alive && !core.core.draining();
  notes.client_minor_version = request.minor_version;
  return notes;
}

Task<bool> RequestState::write(std::span<const std::string_view> buffers) {
  record.status = http::status_of(head);
  const auto written = co_await client.write(buffers, limits::client_io_timeout);
  if (!written) cut_off();
  co_return written.has_value();
}

Task<bool> RequestState::write_head() {
  const std::array<std::string_view, 1> buffers{view(head)};
  co_return co_await write(buffers);
}

void RequestState::cut_off() noexcept {
  keep_alive = false;
  client.reset_on_close();
}

Task<void> RequestState::refuse(Error error) {
  keep_alive = keep_alive && client.body_done() && !core.core.draining() &&
               error.source != ErrorSource::client;
  if (error.source == ErrorSource::client) core.sheet.count_error(error);
  outcome = metrics::Outcome::error;
  std::string text;
  http::append_cache_status(text, status);
  http::ErrorResponse how;
  how.proxy = core.shared.identity.name;
  how.cache_status = text;
  how.now = core.core.now();
  if (inquiry.from_sidecar) how.more_lines = outcome_is_error;
  how.close = !keep_alive;
  how.head_only = inquiry.method == "HEAD";
  head = http::error_response(error, how);
  co_await write_head();
}

}  // namespace ringside::cache
