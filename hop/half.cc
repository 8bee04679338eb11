#include "hop/half.h"

#include "base/check.h"
#include "net/stack.h"

namespace ringside::hop {

Half::Half(const std::string& name, const Place& place, const Clock& clock)
    : cores_(name, place.cores, clock, place.stack ? *place.stack : net::kernel_stack()) {}

Half::~Half() { stop(); }

Result<void> Half::serve(const Place& place, MakeHandler make_handler,
                         decltype(ServerTerms::address_limit) address_limit) {
  RINGSIDE_CHECK(place.wire != nullptr);
  server_ = place.wire->serve(
      cores_, {std::move(make_handler), std::move(address_limit), place.access_log});
  if (auto listening = server_->listen(place.listen); !listening) return listening;
  if (place.threads) {
    cores_.start();
  } else {
    cores_.start_without_threads();
  }
  return {};
}

}  // namespace ringside::hop
