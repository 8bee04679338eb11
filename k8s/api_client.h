#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "k8s/access.h"
#include "k8s/api_answer.h"
#include "k8s/failure.h"
#include "k8s/halt.h"
#include "k8s/pace.h"

namespace ringside::k8s {

// Asks one API server, by httplib. Each call blocks and has a connection of its own; the token is
// read from its file for each. Thread-safe. SIGPIPE must be ignored (program/signals.h): httplib
// and OpenSSL may raise it.
class ApiClient {
 public:
  ApiClient(Access access, const Pace& pace) : access_(std::move(access)), pace_(pace) {}
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  // The body of a 200. `path_and_query`: as it is sent, after Access::base_path; already encoded.
  [[nodiscard]] Outcome<std::string> get(const std::string& path_and_query,
                                         const Question& question);

  // Merges what is in `body` into an object (RFC 7396); the object that comes of it.
  [[nodiscard]] Outcome<std::string> merge(const std::string& path_and_query,
                                           const Question& question, const std::string& body);

  // Given nothing once the server has begun to answer with 200, then each piece of its body. False
  // ends the watch.
  using Taker = std::function<bool(std::string_view piece)>;
  // Ok: the server ended the answer in order, or the taker did.
  [[nodiscard]] Outcome<void> watch(const std::string& path_and_query, const Question& question,
                                    const Taker& take);

  // From any thread: whatever waits ends at once, with a failure, and nothing begins any more.
  void stop() noexcept { halt_.order(); }
  // Likewise, but what begins later does begin.
  void cut() noexcept { halt_.cut(); }
  [[nodiscard]] bool stopped() const noexcept { return halt_.ordered(); }

  [[nodiscard]] const Access& access() const noexcept { return access_; }

 private:
  struct Patience {
    Milliseconds silence;  // until the answer begins, and between two pieces of it
    Milliseconds whole;    // for all of it, looked at with each piece
  };
  // What is sent; by default nothing but the question.
  struct Content {
    std::string method = "GET";
    std::string type{};
    std::string body{};
  };
  [[nodiscard]] Outcome<void> ask(const std::string& path_and_query, const Question& question,
                                  const Patience& patience, const Taker& take,
                                  const Content& content);
  [[nodiscard]] Outcome<std::string> whole(const std::string& path_and_query,
                                           const Question& question, const Content& content);
  [[nodiscard]] Outcome<std::string> token() const;

  const Access access_;
  const Pace pace_;
  Halt halt_;
};

}  // namespace ringside::k8s
