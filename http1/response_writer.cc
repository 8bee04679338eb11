#include "http1/response_writer.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "base/limits.h"
#include "http1/chunked.h"
#include "http1/head_text.h"
#include "http1/tunnel.h"

namespace ringside::http {

void ResponseWriter::add(const Pulled& pulled, bool chunked, std::uint64_t& body_bytes) {
  std::size_t bytes = 0;
  for (const std::string_view piece : pulled.pieces) bytes += piece.size();
  body_bytes += bytes;
  const bool chunk = chunked && bytes > 0;
  if (chunk) buffers_.push_back(chunk_line(bytes, line_space_));
  buffers_.insert(buffers_.end(), pulled.pieces.begin(), pulled.pieces.end());
  if (chunk) buffers_.emplace_back("\r\n");
  if (pulled.last && chunked) buffers_.push_back(last_chunk);
}

std::size_t ResponseWriter::size_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const std::string_view buffer : buffers_) bytes += buffer.size();
  return bytes;
}

Task<Result<void>> ResponseWriter::write_rest(const Response& response, std::size_t taken) {
  handler_.stalled(response, client_);
  // It then begins to wait anew.
  const std::function<void()> took = [&] {
    handler_.resumed();
    handler_.stalled(response, client_);
  };
  const auto flushed = co_await client_.write_rest(buffers_, taken, io_timeout_, &took);
  handler_.resumed();
  co_return flushed;
}

Task<ResponseWriter::Written> ResponseWriter::write(Response& response, Terms terms) {
  const Delivery delivery =
      choose_delivery(terms.minor_version, response.length_is_known || terms.is_head,
                      terms.keep_alive && !response.is_last);
  std::string& head = client_.head_space();
  head.clear();
  append_response_head(head, response, delivery, terms.minor_version);
  Written written;
  buffers_.assign(1, head);
  for (bool last = terms.is_head || response.tunnel; true;) {
    std::optional<Result<Pulled>> pulled;
    if (!last) {
      pulled = response.body.take();
      // A head goes alone where the body may be long in coming.
      const bool waits = buffers_.empty() || response.head_waits;
      if (!pulled && waits) pulled = co_await response.body.pull();
    }
    if (pulled && !*pulled) {
      written.sent.failure = pulled->error();
      const bool can_be_told =
          written.sent.status == 0 && pulled->error().source != ErrorSource::client;
      const bool is_seen =
          terms.cut_without_reset && (delivery.chunked || response.length_is_known);
      if (!can_be_told && !is_seen) client_.reset_on_close();
      co_return written;
    }
    if (pulled) {
      add(**pulled, delivery.chunked, written.sent.body_bytes);
      last = (*pulled)->last;
    }
    written.sent.status = response.status;
    // Before the first attempt: an earlier wait for the client may have let the deadline expire.
    client_.set_deadline(io_timeout_);
    const std::uint64_t before = client_.written_bytes();
    const auto taken = buffers_.empty() ? Result<std::size_t>(0U) : client_.write_now(buffers_);
    Result<void> flushed = taken ? Result<void>() : Result<void>(taken.error());
    if (taken && *taken < size_bytes()) {  // Most often the socket takes all of it at once.
      flushed = co_await write_rest(response, *taken);
    }
    if (!flushed) {
      // What it has not taken was not sent, all but the chunks' lines.
      const std::uint64_t left = size_bytes() - (client_.written_bytes() - before);
      written.sent.body_bytes -= std::min(written.sent.body_bytes, left);
      written.sent.failure = flushed.error();
      client_.reset_on_close();
      co_return written;
    }
    buffers_.clear();
    if (last) break;
  }
  written.keep_alive = delivery.keep_alive && !response.tunnel;
  if (response.tunnel) {
    const auto carried = co_await tunnel(client_, *response.tunnel, limits::tunnel_idle_timeout);
    written.sent.body_bytes = carried.down;
  }
  co_return written;
}

std::string whole_text(Response& response) {
  std::string out;
  append_response_head(out, response, {false, false}, 1);
  const auto content = response.body.take();
  RINGSIDE_CHECK(content && *content && (*content)->last);
  for (const std::string_view piece : (*content)->pieces) out += piece;
  return out;
}

}  // namespace ringside::http
