#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "tests/model/history.h"
#include "tests/model/reference.h"

namespace ringside::model {

// What an origin says that does as the step's plan says and tells the model of it. It is an honest
// one: strong tags stand for one content, and 304 answers only who has what it would send.
class Origin {
 public:
  // `plan` lives until the next.
  void begin(const Request& request, const OriginPlan& plan, TimePoint now);
  // The model, which nobody else uses while `use` runs.
  template <class Use>
  auto with_model(Use use) {
    const std::lock_guard lock(mutex_);
    return use(model_);
  }
  // What it was asked and said during the step.
  [[nodiscard]] std::vector<std::string> told();

  struct Said {
    std::string bytes;
    bool end = false;  // then the connection is closed
  };
  // To a request with that head.
  [[nodiscard]] Said answer(const std::string& head);

 private:
  std::mutex mutex_;
  Reference model_;
  OriginPlan plan_;
  TimePoint now_;
  int contents_ = 0;
  std::vector<std::string> told_;
};

}  // namespace ringside::model
