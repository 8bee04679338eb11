#include "tests/model/history.h"

#include <initializer_list>
#include <iterator>
#include <random>

namespace ringside::model {
namespace {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}
  bool percent(unsigned share) { return engine_() % 100 < share; }
  template <class T>
  T of(std::initializer_list<T> values) {
    return *std::next(values.begin(), static_cast<std::ptrdiff_t>(engine_() % values.size()));
  }
  Offset offset(unsigned share) { return percent(share) ? Offset(of({-1, 0, 0, 1})) : Offset(); }

 private:
  std::mt19937_64 engine_;
};

int seconds(Chance& chance) { return chance.of({0, 5, 10, 60, 60, 600}); }

Control some_control(Chance& chance) {
  Control control;
  control.no_store = chance.percent(4);
  control.no_cache = chance.percent(8);
  control.is_private = chance.percent(5);
  control.is_public = chance.percent(12);
  control.must_revalidate = chance.percent(15);
  if (chance.percent(75)) control.max_age_s = seconds(chance);
  if (chance.percent(15)) control.s_maxage_s = seconds(chance);
  if (chance.percent(15)) control.stale_while_revalidate_s = seconds(chance);
  if (chance.percent(15)) control.stale_if_error_s = seconds(chance);
  return control;
}

OriginPlan some_plan(Chance& chance) {
  using Way = OriginPlan::Way;
  using Tag = OriginPlan::Tag;
  OriginPlan plan;
  if (chance.percent(6)) plan.way = chance.of({Way::closes, Way::closes, Way::cuts});
  if (chance.percent(25)) {
    plan.status = chance.of({203, 204, 301, 302, 404, 404, 410, 500, 500, 503, 503, 599});
  }
  if (chance.percent(85)) plan.control = some_control(chance);
  if (plan.control && text(*plan.control).empty()) plan.control.reset();
  if (chance.percent(20)) plan.expires_in_s = chance.of({-10, 0, 10, 60, 600});
  plan.expires_is_invalid = plan.expires_in_s && chance.percent(10);
  if (chance.percent(10)) plan.date_skew_s.reset();
  if (chance.percent(15)) plan.date_skew_s = chance.of({-60, -10, -3, 3, 60});
  if (chance.percent(15)) plan.age_s = chance.of({0, 1, 5, 9, 30, 60});
  if (chance.percent(35)) {
    plan.vary = chance.of({Vary::language, Vary::language, Vary::encoding, Vary::both, Vary::any});
  }
  plan.tag = chance.of({Tag::none, Tag::none, Tag::weak, Tag::strong, Tag::strong});
  plan.version = chance.of({1, 1, 1, 2});
  plan.says_modified = chance.percent(40);
  plan.heeds_conditions = chance.percent(85);
  plan.confirms_with_fields = chance.percent(60);
  plan.heeds_ranges = chance.percent(40);
  return plan;
}

void ask_for_something(Chance& chance, Step& step) {
  Request& request = step.request;
  request.no_cache = chance.percent(4);
  request.no_store = chance.percent(4);
  request.only_if_cached = chance.percent(5);
  request.authorized = chance.percent(10);
  step.max_age = chance.offset(8);
  step.min_fresh = chance.offset(6);
  step.max_stale = chance.offset(8);
  step.max_stale_any = chance.percent(3);
  using Tags = Step::Tags;
  using Since = Step::Since;
  if (chance.percent(12)) {
    step.if_none_match =
        chance.of({Tags::last, Tags::last, Tags::last_as_weak, Tags::other, Tags::any});
  }
  if (chance.percent(8)) step.if_modified_since = chance.of({Since::last, Since::before});
  if (chance.percent(6)) request.range = chance.of({Range{0, 0}, Range{0, 3}, Range{4, 8}});
}

Step some_step(Chance& chance) {
  Step step;
  if (chance.percent(30)) {
    step.to_end_of_life = chance.of({-1, 0, 0, 1});
    step.and_end_of_grace = chance.percent(25);
  } else if (chance.percent(45)) {
    step.wait_s = chance.of({1, 1, 2, 5, 9, 10, 30, 61, 601, 7'200});
  }
  step.request.uri = chance.of({0, 0, 0, 1, 1, 2});
  step.request.language = chance.of<const char*>({"", "en", "en", "fr"});
  step.request.encoding = chance.of<const char*>({"", "gzip", "gzip", "br"});
  if (chance.percent(8)) {
    step.request.method = chance.of<const char*>({"POST", "PUT", "DELETE"});
  } else {
    if (chance.percent(10)) step.request.method = "HEAD";
    if (chance.percent(50)) ask_for_something(chance, step);
  }
  step.origin = some_plan(chance);
  return step;
}

}  // namespace

History make_history(std::uint64_t seed, std::size_t steps) {
  Chance chance(seed);
  History history;
  while (history.size() < steps) history.push_back(some_step(chance));
  return history;
}

}  // namespace ringside::model
