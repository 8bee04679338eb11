#include "hop/half.h"

#include "base/check.h"
#include "net/stack.h"

namespace ringside::hop {

Half::Half(const std::string& name, const Setup& setup, const Clock& clock)
    : cores_(name, setup.cores, clock, setup.stack ? *setup.stack : net::kernel_stack(),
             setup.buffered_bytes) {}

Half::~Half() { stop(); }

Result<void> Half::serve(const Setup& setup, MakeHandler make_handler,
                         decltype(ServerTerms::address_limit) address_limit) {
  RINGSIDE_CHECK(setup.wire != nullptr);
  server_ = setup.wire->serve(cores_, {std::move(make_handler), std::move(address_limit),
                                       setup.access_log, setup.connections_per_core});
  if (auto listening = server_->listen(setup.listen); !listening) return listening;
  if (setup.threads) {
    cores_.start();
  } else {
    cores_.start_without_threads();
  }
  return {};
}

}  // namespace ringside::hop
