#include "http1/upload.h"

#include "base/limits.h"
#include "http1/arrival_watch.h"
#include "http1/chunked.h"

namespace ringside::http {
namespace {

void consume(std::vector<std::string_view>& buffers, std::size_t bytes) {
  std::size_t done = 0;
  while (done < buffers.size() && bytes >= buffers[done].size()) bytes -= buffers[done++].size();
  buffers.erase(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(done));
  if (!buffers.empty()) buffers.front().remove_prefix(bytes);
}

}  // namespace

Task<Result<Upload::End>> Upload::send_pending(ArrivalWatch& watch) {
  to_.set_deadline(limits::upstream_io_timeout);
  while (!pending_.empty()) {
    const auto written = to_.write_now(pending_);
    if (!written) co_return written.error();
    consume(pending_, *written);
    if (pending_.empty()) break;
    if (watch.arrived()) co_return End::upstream_spoke;
    const auto waited = co_await to_.wait_writable();
    if (!waited && !watch.arrived()) co_return waited.error();
  }
  co_return End::complete;
}

Result<void> Upload::add(const Pulled& pulled) {
  pending_.clear();
  std::size_t bytes = 0;
  for (const std::string_view piece : pulled.pieces) bytes += piece.size();
  sent_bytes_ += bytes;
  if (sent_bytes_ > most_bytes_) {
    return Error{ErrorKind::body_too_large, ErrorSource::client, Retry::no,
                 "the body is larger than is allowed"};
  }
  const bool chunk = chunked_ && bytes > 0;
  if (chunk) pending_.push_back(chunk_line(bytes, line_space_));
  pending_.insert(pending_.end(), pulled.pieces.begin(), pulled.pieces.end());
  if (chunk) pending_.emplace_back("\r\n");
  if (pulled.last && chunked_) pending_.push_back(last_chunk);
  last_ = pulled.last;
  return {};
}

Task<Result<Upload::End>> Upload::run() {
  ArrivalWatch watch(to_, from_);
  while (true) {
    const auto sent = co_await send_pending(watch);
    if (!sent || *sent == End::upstream_spoke) co_return sent;
    if (last_) co_return End::complete;
    auto pulled = from_.take();
    if (!pulled) {
      if (watch.arrived()) co_return End::upstream_spoke;
      pulled = co_await from_.pull();
      if (!*pulled && watch.arrived()) co_return End::upstream_spoke;
    }
    if (!*pulled) co_return pulled->error();
    if (const auto added = add(**pulled); !added) co_return added.error();
  }
}

}  // namespace ringside::http
