#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/model/world.h"

namespace ringside::model {

// What the origin does with every request that comes to it during a step.
struct OriginPlan {
  enum class Way { answers, closes, cuts };  // cuts: the body ends before its length
  Way way = Way::answers;
  int status = 200;
  std::optional<Control> control;
  std::optional<int> expires_in_s;  // from its Date
  bool expires_is_invalid = false;
  std::optional<int> date_skew_s = 0;  // absent: no Date
  std::optional<int> age_s;
  std::optional<Vary> vary;
  enum class Tag { none, weak, strong };
  Tag tag = Tag::strong;
  int version = 1;
  bool says_modified = false;
  bool heeds_conditions = true;  // else a conditional request is answered whole
  bool confirms_with_fields = true;
  bool heeds_ranges = false;
};

// Numbers near a boundary, which only the run knows: this much off it.
using Offset = std::optional<int>;

struct Step {
  // Before the request: nothing, so many seconds, or to the end of what is stored last for its URI.
  int wait_s = 0;
  Offset to_end_of_life;
  bool and_end_of_grace = false;  // and then by its stale-while-revalidate or stale-if-error

  Request request;   // without the parts that are below
  Offset max_age;    // off the present age
  Offset min_fresh;  // off what is left
  Offset max_stale;  // off what it is stale
  bool max_stale_any = false;
  enum class Tags { none, last, last_as_weak, other, any };  // last: that the client has seen there
  Tags if_none_match = Tags::none;
  enum class Since { none, last, before };
  Since if_modified_since = Since::none;

  OriginPlan origin;
};
using History = std::vector<Step>;

// The same seed, the same history.
[[nodiscard]] History make_history(std::uint64_t seed, std::size_t steps);

}  // namespace ringside::model
