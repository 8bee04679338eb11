#include "net/nap.h"

#include <algorithm>

#include "net/loop.h"
#include "net/waiter.h"

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

Task<void> nap_until(Core& core, SteadyPoint when) {
  const Milliseconds longest = core.clock().longest_sleep();
  if (longest == Milliseconds{0}) {
    Waiter waiter(core);
    if (core.steady_now() < when) static_cast<void>(co_await waiter.wait(when));
    co_return;
  }
  while (!core.stopped()) {
    const auto left = when - core.clock().steady_now();
    if (left <= left.zero()) break;
    co_await nap(core, std::min<SteadyPoint::duration>(left, longest));
  }
}

}  // namespace ringside::net
