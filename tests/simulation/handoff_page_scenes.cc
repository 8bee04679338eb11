#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/changing_scene.h"
#include "tests/simulation/handoff_scenes.h"
#include "tests/simulation/moving_scene.h"

// What is asked for while buckets move is of more than one kind, or expires.

namespace ringside::simulation {
namespace {

// What is asked for the first time is under way for long.
void cold_requests_are_in_flight(std::uint64_t seed) {
  constexpr std::size_t pages = 24;
  World world(seed);
  SimulatedTier tier(world, MovingScene::shape_of(3));
  SimulatedClient client(world, "client");
  tier.origin().behave(Manner::late, Milliseconds{400});
  std::vector<std::shared_ptr<const SimulatedClient::Asked>> asked;
  const auto ask_for_all = [&](std::size_t sidecar) {
    for (std::size_t number = 0; number < pages; ++number) {
      const auto request = get_request(ChangingScene::page(number));
      asked.push_back(client.begin(tier.address(sidecar), request));
    }
  };
  ask_for_all(0);
  world.run_for(Milliseconds{10});
  tier.grow();
  for (std::size_t index = 0; index < tier.replicas(); ++index) tier.tell_replica(index);
  tier.publish(1);
  world.run_for(Milliseconds{world.random().below(300)});
  ask_for_all(1);
  for (const auto& one : asked) {
    EXPECT_TRUE(world.run_until([&] { return one->done; }, scene_patience));
    EXPECT_EQ(one->reply.status, 200);
  }
  EXPECT_EQ(tier.origin().all_fetches(), pages);
}

// Of a bucket that is on its way something is asked that nobody has, and then what is in it.
void new_pages_in_moving_buckets(std::uint64_t seed) {
  constexpr std::size_t pages = 24;
  World world(seed);
  SimulatedTier tier(world, MovingScene::shape_of(3));
  SimulatedClient client(world, "client");
  std::vector<std::shared_ptr<const SimulatedClient::Asked>> asked;
  const auto begin = [&](std::size_t page, std::string_view query) {
    const auto request = get_request(ChangingScene::page(page) + std::string(query));
    asked.push_back(client.begin(tier.address(page % 2), request));
  };
  const auto wait_for_all = [&] {
    for (const auto& one : asked) {
      EXPECT_TRUE(world.run_until([&] { return one->done; }, scene_patience));
      EXPECT_EQ(one->reply.status, 200);
    }
    asked.clear();
  };
  for (std::size_t page = 0; page < pages; ++page) begin(page, "?old");
  wait_for_all();
  tier.grow();
  for (std::size_t index = 0; index < tier.replicas(); ++index) tier.tell_replica(index);
  for (std::size_t index = 0; index < 2; ++index) tier.publish(index);
  world.run_for(Milliseconds{world.random().below(50)});
  for (std::size_t page = 0; page < pages; ++page) {
    begin(page, "?new");
    world.run_for(Milliseconds{world.random().below(5)});
    begin(page, "?old");
  }
  wait_for_all();
  EXPECT_EQ(tier.origin().all_fetches(), 2 * pages);
}

// What varies moves with all its variants, and who wants a part is given it of what moves.
void variants_and_parts_move(std::uint64_t seed) {
  constexpr std::size_t pages = 12;
  World world(seed);
  SimulatedTier tier(world, MovingScene::shape_of(3));
  SimulatedClient client(world, "client");
  tier.origin().add_fields("Vary: Accept-Language\r\nETag: \"x\"\r\n");
  const auto ask = [&](std::size_t sidecar, std::size_t page, const std::string& lines) {
    std::string request = get_request(ChangingScene::page(page));
    request.insert(request.size() - 2, lines);
    return client.begin(tier.address(sidecar), request);
  };
  const std::vector<std::string> languages{"Accept-Language: de\r\n", "Accept-Language: fr\r\n"};
  std::vector<std::shared_ptr<const SimulatedClient::Asked>> asked;
  const auto wait_for_all = [&](int status) {
    for (const auto& one : asked) {
      EXPECT_TRUE(world.run_until([&] { return one->done; }, scene_patience));
      EXPECT_EQ(one->reply.status, status);
    }
    asked.clear();
  };
  for (std::size_t page = 0; page < pages; ++page) {
    for (const auto& language : languages) asked.push_back(ask(0, page, language));
  }
  wait_for_all(200);
  tier.grow();
  for (std::size_t index = 0; index < tier.replicas(); ++index) {
    tier.tell_replica(index);
    for (std::size_t page = index; page < pages; page += 4) {
      asked.push_back(ask(page % 2, page, languages[page % 2] + "Range: bytes=1-3\r\n"));
    }
    if (index % 2 == 0) tier.publish(index / 2);
  }
  wait_for_all(206);
  for (std::size_t page = 0; page < pages; ++page) {
    for (const auto& language : languages) asked.push_back(ask(1, page, language));
  }
  wait_for_all(200);
  EXPECT_EQ(tier.origin().all_fetches(), pages * languages.size());
}

// What a route fetches in slices moves as such: each is fetched once.
void slices_move(std::uint64_t seed) {
  constexpr std::size_t slice_bytes = 4'096;
  World world(seed);
  Shape shape = MovingScene::shape_of(3);
  shape.of_replicas = [](cache::Settings& settings) {
    settings.routes.front().rules.slice_size_bytes = slice_bytes;
  };
  SimulatedTier tier(world, shape);
  tier.origin().give_parts();
  SimulatedClient client(world, "client");
  std::vector<std::string> films;
  std::size_t slices = 0;
  while (films.size() < share_of(16, less().pages)) {
    films.push_back(target_of(fmt::format("film-{}", films.size()), 10'000, 30'000));
    slices += (body_of(films.back()).size() + slice_bytes - 1) / slice_bytes;
  }
  struct Wanted {
    std::shared_ptr<const SimulatedClient::Asked> asked;
    std::string body;
  };
  std::vector<Wanted> wanted;
  const auto ask_for_some = [&](std::size_t sidecar, const std::string& film) {
    const std::string body = body_of(film);
    const std::size_t first = world.random().below(body.size());
    const std::size_t last = first + world.random().below(body.size() - first);
    std::string request = get_request(film);
    request.insert(request.size() - 2, fmt::format("Range: bytes={}-{}\r\n", first, last));
    wanted.push_back(
        {client.begin(tier.address(sidecar), request), body.substr(first, last - first + 1)});
  };
  const auto expect_all = [&](int status) {
    for (const Wanted& one : wanted) {
      EXPECT_TRUE(world.run_until([&] { return one.asked->done; }, scene_patience));
      EXPECT_EQ(one.asked->reply.status, status);
      EXPECT_EQ(one.asked->reply.body, one.body);
    }
    wanted.clear();
  };
  for (const std::string& film : films) ask_for_some(0, film);
  expect_all(206);
  tier.grow();
  for (std::size_t index = 0; index < tier.replicas(); ++index) {
    tier.tell_replica(index);
    for (const std::string& film : films) ask_for_some(index % 2, film);
    if (index % 2 == 0) tier.publish(index / 2);
    world.run_for(Milliseconds{world.random().below(20)});
  }
  expect_all(206);
  for (const std::string& film : films) {
    wanted.push_back({client.begin(tier.address(1), get_request(film)), body_of(film)});
  }
  expect_all(200);
  EXPECT_EQ(tier.origin().all_fetches(), slices);
}

// Pages are fetched when they have expired and no sooner, and are given no later, wherever they
// lie.
void pages_expire_meanwhile(std::uint64_t seed) {
  constexpr Instant lifetime = Seconds{4};
  constexpr Instant slack = Milliseconds{1'200};  // a Date is in whole seconds
  constexpr std::size_t pages = 12;
  World world(seed, World::Clocks::alike);
  SimulatedTier tier(world, MovingScene::shape_of(3));
  tier.origin().add_fields("CDN-Cache-Control: max-age=4\r\n");
  SimulatedClient client(world, "client");
  std::map<std::string, std::set<Instant>> fetched;  // when each page was, as its answers tell
  const auto is_over = [&] { return world.now() > Seconds{20}; };
  while (!is_over()) {
    if (world.random().one_in(pages) && tier.replicas() < 6) {
      if (world.random().one_in(3)) {
        tier.remove(world.random().below(2));
      } else {
        tier.grow();
      }
      for (std::size_t index = 0; index < tier.replicas(); ++index) tier.tell_replica(index);
      for (std::size_t index = 0; index < 2; ++index) {
        if (world.random().one_in(2)) tier.publish(index);
      }
    }
    const std::string target = ChangingScene::page(world.random().below(pages));
    const auto got = client.get(tier.address(world.random().below(2)), target);
    EXPECT_EQ(got.reply.status, 200);
    const Instant when{std::strtoll(got.reply.field("x-time").c_str(), nullptr, 10)};
    const Instant age = Seconds{std::strtoll(got.reply.field("age").c_str(), nullptr, 10)};
    EXPECT_LE(got.began - when, lifetime + slack) << target << " has expired";
    EXPECT_LE(got.began - when, age + slack) << target << " is older than it says";
    fetched[target].insert(when);
    world.run_for(Milliseconds{world.random().below(40)});
  }
  for (const auto& [target, times] : fetched) {
    EXPECT_EQ(tier.origin().fetches(target), times.size()) << target;
    for (auto time = times.begin(); std::next(time) != times.end(); ++time) {
      EXPECT_GE(*std::next(time) - *time, lifetime - slack) << target << " is fetched again";
    }
  }
}

constexpr auto scenes_of_pages = std::to_array<HandoffScene>({
    {"ColdRequestsAreInFlight", cold_requests_are_in_flight, 20},
    {"NewPagesInMovingBuckets", new_pages_in_moving_buckets, 20},
    {"VariantsAndPartsMove", variants_and_parts_move, 20},
    {"SlicesMove", slices_move, 20},
    {"PagesExpireMeanwhile", pages_expire_meanwhile, 10},
});

}  // namespace

std::span<const HandoffScene> page_scenes() { return scenes_of_pages; }

}  // namespace ringside::simulation
