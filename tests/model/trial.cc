#include "tests/model/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <thread>

#include "http/date.h"
#include "tests/cache/some_replica.h"
#include "tests/model/origin.h"

namespace ringside::model {
namespace {

template <class Number>
Number number(std::string_view digits) {
  Number value{};
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

Reply understood(const support::Reply& got) {
  Reply reply;
  reply.status = got.status;
  reply.whole = got.whole;
  if (const auto answer = got.field("x-answer"); !answer.empty()) {
    reply.answer = number<std::size_t>(answer);
  }
  constexpr std::string_view note = "\r\nX-Note-";
  for (auto at = got.head.find(note); at != got.head.npos; at = got.head.find(note, at + 1)) {
    reply.notes.push_back(number<std::size_t>(std::string_view(got.head).substr(at + note.size())));
  }
  std::sort(reply.notes.begin(), reply.notes.end());
  if (const auto age = got.field("age"); !age.empty()) reply.age_s = number<int>(age);
  reply.control = got.field("cache-control");
  reply.expires = got.field("expires");
  reply.vary = got.field("vary");
  reply.tag = got.field("etag");
  reply.modified = got.field("last-modified");
  reply.content_range = got.field("content-range");
  reply.body = got.body;
  return reply;
}

std::string one_line(std::string text) {
  for (auto at = text.find("\r\n"); at != text.npos; at = text.find("\r\n"))
    text.replace(at, 2, "; ");
  return text;
}

std::string shown(const Reply& reply) {
  std::string out = fmt::format("{}", reply.status);
  if (reply.answer) out += fmt::format(" of answer {}", *reply.answer);
  for (const std::size_t note : reply.notes) out += fmt::format(" with note {}", note);
  if (reply.age_s) out += fmt::format(", Age {}", *reply.age_s);
  return out + (reply.whole ? "" : ", cut");
}

class Player {
 public:
  Player(Origin& origin, Subject& subject) : origin_(origin), subject_(subject) {}

  Trial play(const History& history) {
    for (const Step& step : history) {
      if (!trial_.objection.empty()) break;
      play(step);
    }
    return std::move(trial_);
  }

 private:
  struct Seen {
    std::string tag;
    std::optional<TimePoint> modified;
  };

  void wait(const Step& step) {
    int wait_s = step.wait_s;
    if (step.to_end_of_life) {
      const auto life = origin_.with_model(
          [&](Reference& model) { return model.life(step.request.uri, subject_.now()); });
      if (life) wait_s = life->left_s + *step.to_end_of_life;
      if (life && step.and_end_of_grace) wait_s += life->grace_s;
    }
    waited_s_ = std::max(0, wait_s);
    if (waited_s_ > 0) subject_.pass(Seconds{waited_s_});
  }

  Request resolved(const Step& step) {
    Request request = step.request;
    const auto found = origin_.with_model(
        [&](Reference& model) { return model.life(request.uri, subject_.now()); });
    const auto life = found.value_or(Reference::Life{});
    if (step.max_age) request.max_age_s = std::max(0, life.age_s + *step.max_age);
    if (step.min_fresh) request.min_fresh_s = std::max(0, life.left_s + *step.min_fresh);
    if (step.max_stale) request.max_stale_s = std::max(0, -life.left_s + *step.max_stale);
    if (step.max_stale_any) request.max_stale_s = 100'000'000;
    const Seen& seen = seen_[static_cast<std::size_t>(request.uri)];
    using Tags = Step::Tags;
    const bool is_weak = seen.tag.starts_with("W/");
    if (step.if_none_match == Tags::any) request.if_none_match = "*";
    if (step.if_none_match == Tags::other) request.if_none_match = "\"v1\"";
    if (step.if_none_match == Tags::last && !seen.tag.empty()) request.if_none_match = seen.tag;
    if (step.if_none_match == Tags::last_as_weak && !seen.tag.empty()) {
      request.if_none_match = is_weak ? seen.tag.substr(2) : "W/" + seen.tag;
    }
    if (step.if_modified_since != Step::Since::none && seen.modified) {
      const bool before = step.if_modified_since == Step::Since::before;
      request.if_modified_since = *seen.modified - Seconds{before ? 1 : 0};
    }
    return request;
  }

  Reply ask(const Request& request) {
    const bool has_body = request.method == "POST" || request.method == "PUT";
    return understood(subject_.ask(fmt::format(
        "{} {} HTTP/1.1\r\nHost: a.test\r\n{}{}\r\n{}", request.method, path(request.uri),
        lines(request), has_body ? "Content-Length: 2\r\n" : "", has_body ? "hi" : "")));
  }

  // One line for each thing that the origin did.
  std::string told() {
    std::string out;
    for (const std::string& line : origin_.told()) out += "     origin: " + one_line(line) + "\n";
    return out;
  }

  void play(const Step& step) {
    wait(step);
    const Request request = resolved(step);
    origin_.begin(request, step.origin, subject_.now());
    const bool could = origin_.with_model([](Reference& model) { return model.could_reuse(); });
    const Reply reply = ask(request);
    subject_.settle(reply);
    origin_.with_model([&](Reference& model) {
      trial_.objection = model.objection(reply);
      trial_.could_reuse += could ? 1 : 0;
      trial_.reused += could && model.is_reused(reply) ? 1 : 0;
    });
    ++trial_.steps;
    trial_.text += fmt::format(
        "{:3}. +{} s  {} {}  {}\n{}     client: {}{}\n", trial_.steps, waited_s_, request.method,
        path(request.uri), one_line(lines(request)), told(), shown(reply),
        trial_.objection.empty() ? "" : "\n     NOT ALLOWED: " + trial_.objection);
    Seen& seen = seen_[static_cast<std::size_t>(request.uri)];
    if (!reply.tag.empty()) seen.tag = reply.tag;
    if (!reply.modified.empty()) {
      seen.modified = http::parse_date(reply.modified, subject_.now());
    }
  }

  Origin& origin_;
  Subject& subject_;
  std::array<Seen, 3> seen_;
  int waited_s_ = 0;
  Trial trial_;
};

class OneReplica final : public Subject {
 public:
  explicit OneReplica(Origin& origin) : origin_(origin) {}

  [[nodiscard]] TimePoint now() override { return replica_.clock().now(); }
  void pass(Seconds time) override {
    replica_.clock().advance(time);
    client_.reset();  // it may have idled for too long
  }
  [[nodiscard]] support::Reply ask(const std::string& request) override {
    if (!client_) client_.emplace(replica_.client());
    auto got = client_->ask(request);
    if (got.ended || !got.whole || got.field("connection") == "close") client_.reset();
    return got;
  }
  // It takes microseconds, so it is not slept over.
  void settle(const Reply& reply) override {
    // A refresh in the background may not have begun: the one core comes to it before it answers.
    if (reply.control.find("stale-while-revalidate") != std::string::npos) {
      replica_.get("/never", "Cache-Control: only-if-cached\r\n");
    }
    for (int tries = 0; tries < 10'000 && replica_.store().flights != 0; ++tries) {
      std::this_thread::yield();
    }
    replica_.settle();
  }

 private:
  void converse(support::Stage& stage) {
    while (true) {
      const auto said = origin_.answer(stage.read_request());
      stage.send(said.bytes);
      if (said.end) stage.close();
    }
  }

  Origin& origin_;
  support::ScriptedPeer peer_{[this](support::Stage& stage) { converse(stage); }};
  cache::SomeReplica replica_{peer_.address(), 16 * limits::kMiB, 1};
  std::optional<support::TestClient> client_;
};

}  // namespace

Trial play(const History& history, Origin& origin, Subject& subject) {
  return Player(origin, subject).play(history);
}

Trial play(const History& history) {
  Origin origin;
  OneReplica replica(origin);
  return play(history, origin, replica);
}

History shrunk(History history, const Play& play_one) {
  history.resize(play_one(history).steps);
  for (std::size_t size = std::max<std::size_t>(1, history.size() / 2); size > 0; size /= 2) {
    for (std::size_t first = 0; first + size <= history.size();) {
      History shorter = history;
      const auto from = shorter.begin() + static_cast<std::ptrdiff_t>(first);
      shorter.erase(from, from + static_cast<std::ptrdiff_t>(size));
      const auto trial = play_one(shorter);
      if (trial.objection.empty()) {
        first += size;
      } else {
        shorter.resize(trial.steps);
        history = std::move(shorter);
      }
    }
  }
  return history;
}

}  // namespace ringside::model
