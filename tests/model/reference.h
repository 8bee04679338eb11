#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tests/model/world.h"

namespace ringside::model {

// One answer of the origin. Who reads a response knows which answers it is made of: each marks it
// with its number.
struct Answer {
  std::string method;  // as the origin was asked
  int status = 0;
  Fields fields;
  Fields representation;      // of what conditions were held against; a 304 may not tell it
  std::string content;        // the whole of it, whatever part was sent
  std::optional<Range> part;  // that a 206 sent
  bool whole = true;          // it came to its end
  std::string asked_tags;     // the If-None-Match that came to the origin
  std::string asked_since;    // and the If-Modified-Since

  // The model's own notes.
  std::size_t number = 0;
  std::size_t step = 0;
  TimePoint received;
  Request request;  // the client's, that was in hand
};

// A response as a client got it.
struct Reply {
  int status = 0;
  bool whole = false;
  std::optional<std::size_t> answer;  // whose content it is
  std::vector<std::size_t> notes;     // the 304s and HEADs whose fields it has, in order
  std::optional<int> age_s;
  std::string control, expires, vary, tag, modified, content_range;  // as they stand; or empty
  std::string body;
};

// What RFC 9111 allows a shared cache to answer, found slowly: it keeps all that the origin has
// ever said and holds every reply against it. It says what is allowed, not what is wise. It shares
// no code with the cache.
//
// The RFC leaves a few things open, and there it asks for what our documents promise: request
// directives (§5.2.1) count, and a heuristic lifetime (§4.2.2) is a tenth of the time since
// Last-Modified, a day at most, and nothing without it.
class Reference {
 public:
  // The next request of the history.
  void begin(const Request& request, TimePoint now);
  // The origin's answer to what the cache asked for it; returns its number.
  std::size_t answered(Answer answer);
  // The origin was asked and did not answer.
  void failed();

  // Why the cache may not answer the request so; empty: it may.
  [[nodiscard]] std::string objection(const Reply& reply) const;
  // Whether what the origin said last of this URI might be given again without asking.
  [[nodiscard]] bool could_reuse() const;
  // Whether all of the reply is from before this request.
  [[nodiscard]] bool is_reused(const Reply& reply) const;

  // Of what the origin said last of a URI, for histories that aim at boundaries.
  struct Life {
    int age_s = 0;
    int left_s = 0;   // negative: stale
    int grace_s = 0;  // in which it may be stale
  };
  [[nodiscard]] std::optional<Life> life(int uri, TimePoint now) const;

 private:
  // An answer with all that was said of it later.
  struct Stored {
    const Answer* base = nullptr;
    const Answer* newest = nullptr;  // of base and notes
    bool forbidden = false;          // a later word forbids to store it
    bool foreign = false;            // a note is of something else
    Fields fields;
  };
  [[nodiscard]] Stored stored(std::size_t answer, const std::vector<std::size_t>& notes) const;
  [[nodiscard]] std::optional<Stored> latest(int uri) const;
  [[nodiscard]] bool forgot_a_note(const Stored& stored, const Reply& reply) const;

  [[nodiscard]] std::string own_objection(const Reply& reply) const;
  [[nodiscard]] std::string forwarded_objection(const Answer& answer, const Reply& reply) const;
  [[nodiscard]] std::string reused_objection(const Stored& stored, const Reply& reply) const;
  [[nodiscard]] std::string content_objection(const Answer& answer, const Reply& reply) const;
  // Why it may not be given without asking the origin.
  [[nodiscard]] std::string use_objection(const Stored& stored) const;
  [[nodiscard]] bool may_be_stale(const Stored& stored, int stale_s) const;

  std::deque<Answer> answers_;                   // by number
  std::array<std::size_t, 8> invalid_before_{};  // for each URI, by number
  std::size_t step_ = 0;
  std::size_t first_of_step_ = 0;
  Request request_;
  TimePoint now_;
  bool failed_in_step_ = false;
  bool error_in_step_ = false;  // a status that stale-if-error is for
  bool failed_last_ = false;    // then the origin may be left alone for a while
};

}  // namespace ringside::model
