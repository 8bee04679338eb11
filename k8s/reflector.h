#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <string>

#include "base/clock.h"
#include "k8s/access.h"
#include "k8s/api_answer.h"
#include "k8s/api_client.h"
#include "k8s/event_lines.h"
#include "k8s/pace.h"
#include "k8s/reflection.h"
#include "k8s/reflector_step.h"

namespace ringside::k8s {

// Percent-encoded for a query (RFC 3986 §2.3: unreserved characters stay).
[[nodiscard]] std::string query_value(std::string_view text);

// Keeps a Reflection like what the API server has: lists it, then watches it, again and again.
class Reflector {
 public:
  // Called on the thread of run().
  struct Reports {
    std::function<void(bool proves)> heard;  // it answers; see Contact::heard
    std::function<void(const Failure& failure, bool is_trouble)> failed;  // see Contact::failed
    std::function<void()> changed;  // the reflection holds something else
  };
  struct Resource {
    // Where the collection is, `/apis/…`; asked for at first, and again after a 404.
    std::function<Outcome<std::string>(ApiClient&)> locate;
    std::string selector;  // of the query: `fieldSelector=…`, its value encoded
    std::string name;      // statefulsets.apps
    std::string name_space;
  };

  // `reflection` must outlive it, and is touched by run() only.
  Reflector(const Access& access, const Pace& pace, Resource resource, Reflection& reflection,
            Reports reports);

  // Until it is stopped.
  void run();
  // From any thread; run() returns soon, whatever it waits for.
  void stop();
  // From any thread: ends the watch that is open, so that it begins anew where it was. What the
  // server has told meanwhile, on a connection that is dead without our knowing, comes with it.
  void watch_again();

 private:
  enum class Sign { list, opening, event };

  void heard(Sign sign);
  [[nodiscard]] Attempt list();
  [[nodiscard]] Attempt watch();
  [[nodiscard]] Outcome<void> ask_list();
  [[nodiscard]] Outcome<void> ask_watch(Attempt& attempt);
  [[nodiscard]] std::string watch_query();
  [[nodiscard]] Outcome<void> take(std::string_view piece, EventLines& lines, bool& told);
  void report(const Attempt& attempt, unsigned failures);
  [[nodiscard]] double random();
  [[nodiscard]] bool pause(Milliseconds wait);  // false: it is stopped

  const Pace pace_;
  const Resource resource_;
  const Reports reports_;
  Reflection& reflection_;
  ApiClient client_;
  ReflectorSteps steps_;
  std::minstd_rand chance_;
  std::string collection_;          // empty: to be located
  std::optional<Failure> failure_;  // of the last attempt
  bool opened_ = false;             // the last watch was accepted
  // What shows that the last failure is over: lists may work where watches are refused, and watches
  // be accepted that fail each time.
  Sign needed_ = Sign::list;

  std::atomic<bool> is_cut_{false};  // the watch that is open, by us
  std::atomic<bool> is_watching_{false};

  std::mutex mutex_;  // of `stopped_`
  std::condition_variable stopping_;
  bool stopped_ = false;
};

}  // namespace ringside::k8s
