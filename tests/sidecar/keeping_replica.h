#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "tests/sidecar/some_sidecar.h"

namespace ringside::sidecar {

inline void with_near_cache(Settings& settings) { settings.routes[0].near_ttl = Seconds{10}; }

inline constexpr std::string_view purge_request = "PURGE /a HTTP/1.1\r\nHost: a.test\r\n\r\n";
inline constexpr std::string_view purged_answer =
    "HTTP/1.1 200 OK\r\nRingside-Purged: 2\r\nContent-Length: 0\r\n\r\n";

// Asked for the first time, nothing is worth a near cache's place. What comes of it is not kept.
inline void make_frequent(support::TestClient& client, const std::string& path = "/a") {
  EXPECT_EQ(client.get(path).status, 200);
}

// A replica whose answers may be kept nearby; the n-th fetch has the body "n". `fields` are more
// lines of each answer.
inline support::ScriptedPeer::Script keeping(const std::string& ttl_ms = "10000",
                                             const std::string& fields = {}) {
  const auto answers = std::make_shared<std::atomic<int>>(0);
  return [=](support::Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      if (request.starts_with("PURGE")) {
        stage.send(purged_answer);
      } else {
        stage.send(hit_of("cache-0", std::to_string(++*answers),
                          "Age: 5\r\nRingside-Near-Ttl-Ms: " + ttl_ms + "\r\n" + fields));
      }
    }
  };
}

// The second GET of /a is answered by halves, with the gate between them; everything else at once.
inline support::ScriptedPeer::Script halting(support::Gate& go_on, std::string_view second_half) {
  const auto asked = std::make_shared<std::atomic<int>>(0);
  return [&go_on, second_half, asked](support::Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      const std::string head = "HTTP/1.1 200 OK\r\nRingside-Outcome: hit\r\n";
      if (request.starts_with("PURGE")) {
        stage.send(purged_answer);
      } else if (target_of(request) == "/a" && ++*asked == 2) {
        stage.send(head + "Ringside-Near-Ttl-Ms: 10000\r\nContent-Length: 6\r\n\r\nold");
        stage.wait(go_on);
        if (second_half.empty()) stage.close();
        stage.send(second_half);
      } else {
        stage.send(hit_of("cache-0", "new"));
      }
    }
  };
}

}  // namespace ringside::sidecar
