#include "net/nap.h"

#include "net/loop.h"

namespace ringside::net {
namespace {

class Nap final : public Closable {
 public:
  Nap(Core& core, SteadyPoint::duration how_long) : timer_(core.loop().executor(), how_long) {
    core.add(*this);
    if (core.stopped()) close();
  }
  void close() noexcept override { timer_.expires_at(Timer::time_point::min()); }
  [[nodiscard]] Timer& timer() noexcept { return timer_; }

 private:
  Timer timer_;
};

}  // namespace

Task<void> nap(Core& core, SteadyPoint::duration how_long) {
  Nap one(core, how_long);
  static_cast<void>(co_await CodeAwaiter(
      [&](auto&& handler) { one.timer().async_wait(std::forward<decltype(handler)>(handler)); }));
}

}  // namespace ringside::net
