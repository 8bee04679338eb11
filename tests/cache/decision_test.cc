#include "cache/decision.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cache/some_part.h"

namespace ringside::cache {
namespace {

using support::FakeClock;
using Kind = Action::Kind;
using Memory = Action::Memory;

constexpr TimePoint stored_at = FakeClock::start;

const Route& some_route(std::size_t slice_size_bytes = 0) {
  static const Route whole{"all", {}, {}, {}};
  static const Route sliced = [] {
    Route route{"sliced", {}, {}, {}};
    route.rules.slice_size_bytes = 4;
    return route;
  }();
  return slice_size_bytes > 0 ? sliced : whole;
}

// A GET that may be answered from the store, and fill it.
RequestContext getting(const Route& route = some_route()) {
  RequestContext context = context_of("");
  context.route = &route;
  context.may_use_store = context.may_fill_store = context.may_keep_answer = true;
  return context;
}

StoredPointer fresh_for_a_minute() {
  return response_of(fields_of({{"Cache-Control", "max-age=60"}, {"ETag", "\"1\""}}), "hello");
}

TEST(DecideByTheStore, WhatIsStoredWhatIsAskedAndWhenDecide) {
  const auto stored = fresh_for_a_minute();
  const auto revalidating =
      response_of(fields_of({{"Cache-Control", "max-age=60, stale-while-revalidate=60"}}), "hello");
  const auto beginning = part_of("0123", 0, 10);
  RequestContext only_if_cached = getting();
  only_if_cached.directives.only_if_cached = true;
  RequestContext no_cache = getting();
  no_cache.directives.no_cache = true;
  RequestContext passing = getting();
  passing.may_use_store = passing.may_fill_store = false;
  RequestContext head = getting();
  head.method = "HEAD";
  head.may_fill_store = false;
  const RequestContext sliced = getting(some_route(4));
  struct Row {
    const char* name;
    const RequestContext& context;
    StoredPointer stored;
    bool slices_are_stored;
    Seconds age;
    Step step;
    Verdict verdict;
  };
  const RequestContext get = getting();
  const std::vector<Row> rows{
      {"fresh", get, stored, false, Seconds{59}, Step::give, Verdict::fresh},
      {"at its end", get, stored, false, Seconds{60}, Step::fetch, Verdict::absent},
      {"stale for a while", get, revalidating, false, Seconds{61}, Step::give_and_refresh,
       Verdict::stale_while_revalidating},
      {"nothing", get, nullptr, false, Seconds{0}, Step::fetch, Verdict::absent},
      {"a part of what is wanted", get, beginning, false, Seconds{0}, Step::fetch, Verdict::absent},
      {"no-cache", no_cache, stored, false, Seconds{0}, Step::fetch, Verdict::absent},
      {"only-if-cached", only_if_cached, stored, false, Seconds{0}, Step::give, Verdict::fresh},
      {"only-if-cached, stale", only_if_cached, stored, false, Seconds{60}, Step::refuse,
       Verdict::absent},
      {"only-if-cached, in slices", only_if_cached, beginning, true, Seconds{0}, Step::fetch,
       Verdict::absent},
      {"no say", passing, stored, false, Seconds{0}, Step::pass_on, Verdict::absent},
      {"HEAD of what is there", head, stored, false, Seconds{0}, Step::give, Verdict::fresh},
      {"HEAD of what is not", head, nullptr, false, Seconds{0}, Step::pass_on, Verdict::absent},
      {"slices", sliced, nullptr, false, Seconds{0}, Step::fetch_slices, Verdict::absent},
  };
  for (const Row& row : rows) {
    const auto decision =
        decide(row.context, {}, row.stored, row.slices_are_stored, stored_at + row.age);
    EXPECT_EQ(decision.step, row.step) << row.name;
    EXPECT_EQ(decision.verdict, row.verdict) << row.name;
  }
}

// What is known of a fetch, an hour after what is stored came.
struct SomeFetch {
  explicit SomeFetch(StoredPointer stored)
      : plan(plan_fetch(context, stored)), known(std::move(stored)) {}
  RequestContext context = getting();
  FetchPlan plan;
  StoredPointer known;
  [[nodiscard]] Fetched fetched() const {
    static const http::Fields request;
    const TimePoint now = stored_at + Seconds{3'600};
    return {context, request, plan, known, {now, now}, "cache-3", 1'000};
  }
};

http::ResponseHead head_of(int status, const http::Fields& fields, std::uint64_t length_bytes = 5) {
  http::ResponseHead head;
  head.status = status;
  head.reason = "OK";
  head.fields = fields;
  if (status != 304) head.framing = {http::Framing::Kind::length, length_bytes};
  return head;
}

TEST(DecideByTheOrigin, ItsStatusAndFieldsDecide) {
  const auto cacheable = fields_of({{"Cache-Control", "max-age=60"}, {"ETag", "\"2\""}});
  const auto private_one = fields_of({{"Cache-Control", "private"}});
  const auto same_tag = fields_of({{"ETag", "\"1\""}});
  const auto other_tag = fields_of({{"ETag", "\"other\""}});
  const auto until_error =
      response_of(fields_of({{"Cache-Control", "max-age=60, stale-if-error=7200"}}), "hello");
  const auto whole = fresh_for_a_minute();
  struct Row {
    const char* name;
    StoredPointer stored;
    http::ResponseHead response;
    Kind kind;
    Storability storability;
    bool stored_is_outdated;
    Memory memory;
  };
  const std::vector<Row> rows{
      {"a new one", nullptr, head_of(200, cacheable), Kind::publish, Storability::storable, false,
       Memory::cacheable},
      {"one for this client", whole, head_of(200, private_one), Kind::relay,
       Storability::is_private, true, Memory::uncacheable},
      {"confirmed", whole, head_of(304, same_tag), Kind::give_confirmed, Storability::storable,
       false, Memory::as_it_is},
      {"another one confirmed", whole, head_of(304, other_tag), Kind::ask_alone,
       Storability::storable, true, Memory::as_it_is},
      {"304 to no condition", nullptr, head_of(304, same_tag), Kind::relay, Storability::status,
       false, Memory::uncacheable},
      {"an error, and stale may be given", until_error, head_of(503, {}), Kind::give_stale,
       Storability::storable, false, Memory::as_it_is},
      {"an error, and stale may not", whole, head_of(503, {}), Kind::relay, Storability::status,
       false, Memory::as_it_is},
      {"it is about who asks", whole, head_of(403, {}), Kind::relay, Storability::status, false,
       Memory::as_it_is},
  };
  for (const Row& row : rows) {
    const SomeFetch fetch(row.stored);
    const auto action = decide(fetch.fetched(), row.response);
    EXPECT_EQ(action.kind, row.kind) << row.name;
    if (row.storability != Storability::status) {
      EXPECT_EQ(action.storability, row.storability) << row.name;
    }
    EXPECT_EQ(action.outdated == row.stored && row.stored != nullptr, row.stored_is_outdated)
        << row.name;
    EXPECT_EQ(action.memory, row.memory) << row.name;
    const bool publishes = action.kind == Kind::publish;
    EXPECT_EQ(action.answer.head != nullptr, publishes) << row.name;
    const bool gives = action.kind == Kind::give_confirmed || action.kind == Kind::give_stale;
    EXPECT_EQ(action.response != nullptr, gives) << row.name;
  }
}

TEST(DecideByTheOrigin, WhatIsTooLargeIsPublishedAndNotKept) {
  const auto cacheable = fields_of({{"Cache-Control", "max-age=60"}});
  for (const std::uint64_t length_bytes : {1'000U, 1'001U}) {
    const SomeFetch fetch(nullptr);
    const auto action = decide(fetch.fetched(), head_of(200, cacheable, length_bytes));
    EXPECT_EQ(action.kind, Kind::publish);
    EXPECT_EQ(action.terms.keep, length_bytes == 1'000);
    EXPECT_EQ(action.answer.is_kept, length_bytes == 1'000);
  }
}

TEST(DecideByTheOrigin, Rfc9111Section3_4TheRestCompletesWhatFits) {
  const auto beginning = part_of("0123", 0, 10);
  struct Row {
    const char* range;
    const char* etag;
    Kind kind;
  };
  for (const Row& row : std::vector<Row>{{"bytes 4-9/10", "\"1\"", Kind::publish},
                                         {"bytes 4-9/10", "\"2\"", Kind::ask_alone},
                                         {"bytes 4-9/11", "\"1\"", Kind::ask_alone},
                                         {"bytes 5-9/10", "\"1\"", Kind::ask_alone}}) {
    const SomeFetch fetch(beginning);
    ASSERT_EQ(fetch.plan.completed, beginning);
    const auto range = http::parse_content_range(row.range);
    const auto action =
        decide(fetch.fetched(), head_of(206,
                                        fields_of({{"Content-Range", row.range},
                                                   {"ETag", row.etag},
                                                   {"Cache-Control", "max-age=60"}}),
                                        range->span->size()));
    EXPECT_EQ(action.kind, row.kind) << row.range << row.etag;
    EXPECT_EQ(action.beginning, row.kind == Kind::publish ? beginning : nullptr);
    EXPECT_EQ(action.outdated, row.kind == Kind::publish ? nullptr : beginning);
  }
}

// RFC 9111 §4.2.4
TEST(DecideWithoutAnOrigin, WhatIsStaleIsGivenUnlessSomethingForbidsIt) {
  const Error unreachable{ErrorKind::refused, ErrorSource::origin, Retry::yes, "nobody there"};
  const auto strict = response_of(
      fields_of({{"Cache-Control", "max-age=60, must-revalidate"}, {"ETag", "\"1\""}}), "hello");
  struct Row {
    StoredPointer stored;
    Kind kind;
  };
  for (const Row& row : std::vector<Row>{
           {nullptr, Kind::fail}, {fresh_for_a_minute(), Kind::give_stale}, {strict, Kind::fail}}) {
    const SomeFetch fetch(row.stored);
    const auto action = decide(fetch.fetched(), unreachable);
    EXPECT_EQ(action.kind, row.kind);
    if (action.kind != Kind::give_stale) continue;
    EXPECT_EQ(action.response, row.stored);
    EXPECT_EQ(action.completion, Flight::Completion::unreachable);
  }
}

}  // namespace
}  // namespace ringside::cache
