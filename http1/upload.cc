#include "http1/upload.h"

#include "base/limits.h"
#include "http1/arrival_watch.h"

namespace ringside::http {

Task<Result<Upload::End>> Upload::send_pending(ArrivalWatch& watch) {
  to_.set_deadline(limits::upstream_io_timeout);
  while (!pending_.empty()) {
    const auto written = to_.write_now(pending_.left());
    if (!written) co_return written.error();
    pending_.consume(*written);
    if (pending_.empty()) break;
    if (watch.arrived()) co_return End::upstream_spoke;
    const auto waited = co_await to_.wait_writable();
    if (!waited && !watch.arrived()) co_return waited.error();
  }
  co_return End::complete;
}

Task<Result<Upload::End>> Upload::run() {
  ArrivalWatch watch(to_, from_);
  while (true) {
    const auto sent = co_await send_pending(watch);
    if (!sent || *sent == End::upstream_spoke) co_return sent;
    if (last_) co_return End::complete;
    auto piece = from_.take_body();
    if (!piece) {
      if (watch.arrived()) co_return End::upstream_spoke;
      from_.set_deadline(limits::client_io_timeout);
      piece = co_await from_.read_body();
      if (!*piece && watch.arrived()) co_return End::upstream_spoke;
    }
    if (!*piece) co_return piece->error();
    const std::string_view data = **piece;
    sent_bytes_ += data.size();
    if (sent_bytes_ > most_bytes_) {
      co_return Error{ErrorKind::body_too_large, ErrorSource::client, Retry::no,
                      "the body is larger than is allowed"};
    }
    pending_ = {};
    const bool chunk = coding_ == Coding::chunked && !data.empty();
    if (chunk) pending_.add(chunk_line(data.size(), line_space_));
    pending_.add(data);
    if (chunk) pending_.add("\r\n");
    last_ = from_.body_done();
    if (last_ && coding_ == Coding::chunked) pending_.add(last_chunk);
  }
}

}  // namespace ringside::http
