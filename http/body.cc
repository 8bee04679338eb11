#include "http/body.h"

namespace ringside::http {

std::optional<Result<Pulled>> Body::take() {
  if (source_) return source_->take();
  if (!pieces_.empty()) return Pulled{pieces_, true};
  if (!owner_) shared_ = made_;
  return Pulled{{&shared_, shared_.empty() ? 0U : 1U}, true};
}

Task<Result<Pulled>> Body::pull() {
  if (source_) co_return co_await source_->pull();
  co_return *take();
}

}  // namespace ringside::http
