#include "cache/request_state.h"

#include <gtest/gtest.h>

#include "tests/http1/some_connection.h"

namespace ringside::cache {
namespace {

using RequestStateOnACore = http::OneCore;

// Without an access log the status of the answer before stood there for one that was never sent.
TEST_F(RequestStateOnACore, ANewRequestHasNoStatusYetWithoutALogToo) {
  run_with(ErrorSource::client, [&](http::Connection& client, support::RawSocket&) {
    return [](net::Core& core, http::Connection& from) -> Task<void> {
      Shared shared("cache-7", limits::kMiB);
      metrics::Sheet sheet(metrics::Role::cache, "cache-7", 1);
      CoreState state(core, shared, std::make_shared<const Settings>(), sheet.core(0), nullptr);
      RequestState request(state, from);
      request.head = "HTTP/1.1 200 OK\r\n\r\n";
      EXPECT_TRUE(co_await request.write_head());
      EXPECT_EQ(request.record.status, 200);
      request.begin(false);
      EXPECT_EQ(request.record.status, 0);
    }(core(), client);
  });
}

}  // namespace
}  // namespace ringside::cache
