#include "http1/client_caller.h"

#include <array>
#include <string>

#include "http1/head_text.h"

namespace ringside::http {

Result<Pulled> ClientCaller::pulled(const Result<std::string_view>& piece) {
  if (!piece) return piece.error();
  piece_ = *piece;
  return Pulled{{&piece_, piece_.empty() ? 0U : 1U}, client_.body_done()};
}

std::optional<Result<Pulled>> ClientCaller::take() {
  const auto piece = client_.take_body();
  if (!piece) return std::nullopt;
  return pulled(*piece);
}

Task<Result<Pulled>> ClientCaller::pull() {
  client_.set_deadline(io_timeout_);
  co_return pulled(co_await client_.read_body());
}

Task<Result<void>> ClientCaller::tell(const ResponseHead& interim, Milliseconds timeout) {
  std::string text;
  append_interim_head(text, interim);
  const std::array<std::string_view, 1> buffers{text};
  co_return co_await client_.write(buffers, timeout);
}

void ClientCaller::give_up() noexcept {
  client_.reset_on_close();
  client_.close();
}

}  // namespace ringside::http
