#include "http1/relay.h"

#include <array>
#include <charconv>

#include "http1/gather.h"

namespace ringside::http {
std::string_view chunk_line(std::size_t size_bytes, std::span<char, 20> space) noexcept {
  const auto end = std::to_chars(space.data(), space.data() + 16, size_bytes, 16).ptr;
  end[0] = '\r';
  end[1] = '\n';
  return {space.data(), static_cast<std::size_t>(end + 2 - space.data())};
}

Task<Result<std::uint64_t>> relay(Connection& from, Connection& to, std::string_view& head,
                                  Coding coding, RelayLimits limits) {
  std::uint64_t relayed_bytes = 0;
  std::array<char, 20> line_space;
  while (true) {
    Gather out;
    out.add(head);
    auto piece = from.take_body();
    if (!piece && head.empty()) {
      from.set_deadline(limits.read_timeout);
      piece = co_await from.read_body();
    }
    bool done = false;
    if (piece) {  // Otherwise the head goes alone: the body may be long in coming.
      if (!*piece) co_return piece->error();
      const std::string_view data = **piece;
      relayed_bytes += data.size();
      const bool chunk = coding == Coding::chunked && !data.empty();
      if (chunk) out.add(chunk_line(data.size(), line_space));
      out.add(data);
      if (chunk) out.add("\r\n");
      done = from.body_done();
      if (done && coding == Coding::chunked) out.add(last_chunk);
    }
    head = {};
    if (!out.empty()) {
      // Before the first attempt: what `to` waited for earlier may have run out of time meanwhile.
      to.set_deadline(limits.write_timeout);
      const auto written = to.write_now(out.left());
      if (!written) co_return written.error();
      out.consume(*written);
      if (!out.empty()) {
        const auto rest = co_await to.write_rest(out.left(), 0);
        if (!rest) co_return rest.error();
      }
    }
    if (done) co_return relayed_bytes;
  }
}

}  // namespace ringside::http
