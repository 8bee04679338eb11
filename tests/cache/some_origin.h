#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/cache/some_replica.h"

namespace ringside::cache {

// An origin's connection ends after an answer without the end of its head, such as this.
inline constexpr std::string_view closes{};

inline void send_as_told(support::Stage& stage, const std::string& answer) {
  stage.send(answer);
  if (answer.find("\r\n\r\n") == std::string::npos) stage.close();
}

// Gives its answers in turn, on whichever connections, and the last one again and again.
inline support::ScriptedPeer::Script answers_in_turn(std::vector<std::string> answers) {
  const auto next = std::make_shared<std::atomic<std::size_t>>(0);
  return [answers = std::move(answers), next](support::Stage& stage) {
    while (true) {
      stage.read_request();
      send_as_told(stage, answers[std::min(next->fetch_add(1), answers.size() - 1)]);
    }
  };
}

// Gives `first` once, and `second` to every later request, as soon as the gate is open.
inline support::ScriptedPeer::Script answers_then(std::string first, std::string second,
                                                  const support::Gate& gate) {
  const auto asked = std::make_shared<std::atomic<bool>>(false);
  return
      [first = std::move(first), second = std::move(second), asked, &gate](support::Stage& stage) {
        while (true) {
          stage.read_request();
          if (!asked->exchange(true)) {
            stage.send(first);
            continue;
          }
          stage.wait(gate);
          send_as_told(stage, second);
        }
      };
}

inline constexpr std::string_view not_modified = "HTTP/1.1 304 Not Modified\r\n\r\n";

// Lets the route of a replica have these rules.
inline void set_rules(SomeReplica& replica, Rules rules) {
  auto settings = replica.settings();
  settings.routes.front().rules = std::move(rules);
  replica.apply(std::move(settings));
}

// By its end the one core of a replica has looked at whatever came before.
inline void let_core_catch_up(SomeReplica& replica) {
  EXPECT_EQ(replica.get("/never", "Cache-Control: only-if-cached\r\n").status, 504);
}

inline void pass(SomeReplica& replica, Seconds time) {
  replica.clock().advance(Milliseconds{time});
}

}  // namespace ringside::cache
