#pragma once

#include <functional>
#include <string>

#include "tests/model/history.h"
#include "tests/model/origin.h"
#include "tests/support/test_client.h"

namespace ringside::model {

// What became of a history that was played.
struct Trial {
  std::string objection;        // the model's first; empty: none
  std::size_t steps = 0;        // that were played: none after an objection
  std::string text;             // what happened, one line a step
  std::size_t could_reuse = 0;  // GETs and HEADs that what the origin said last could answer,
  std::size_t reused = 0;       //   and of them those that it did answer
};
// Against a replica of its own.
[[nodiscard]] Trial play(const History& history);

// What else a history may be played against: one cache or more in front of an Origin, as one client
// sees them.
class Subject {
 public:
  virtual ~Subject() = default;
  [[nodiscard]] virtual TimePoint now() = 0;
  virtual void pass(Seconds time) = 0;
  [[nodiscard]] virtual support::Reply ask(const std::string& request) = 0;
  // What is still fetched or stored now is, before anything else happens.
  virtual void settle(const Reply& reply) = 0;
};
[[nodiscard]] Trial play(const History& history, Origin& origin, Subject& subject);

// The history without the steps that its objection does not need, when it is played so.
using Play = std::function<Trial(const History&)>;
[[nodiscard]] History shrunk(History history, const Play& play_one);

}  // namespace ringside::model
