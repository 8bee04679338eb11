// A batch of stored responses, as another replica sends it.
#include <string>
#include <utility>

#include "cache/moved_response.h"
#include "tests/cache/batch_text.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

constexpr cache::AskedAt asked{TimePoint{std::chrono::hours{400'000}},
                               SteadyPoint{std::chrono::hours{1}}};

// What was read is written and read again, and is the same.
void write_again(const cache::MovedResponse& moved) {
  auto body = cache::make_body();
  if (!moved.body.empty()) body->pieces.push_back(std::make_shared<cache::Piece>(moved.body));
  body->size_bytes = moved.body.size();
  cache::MovedBatch batch;
  batch.append(moved.key, {moved.head, body, moved.extent}, moved.warmth, asked.resident);
  const std::string text = cache::text_of(std::move(batch));
  std::string_view left = text;
  const auto again = cache::take_moved(left, asked);
  RINGSIDE_CHECK(again && left.empty());
  const auto& same = std::get<cache::MovedResponse>(*again);
  RINGSIDE_CHECK(same.key.text == moved.key.text && same.key.bucket == moved.key.bucket);
  RINGSIDE_CHECK(same.head->lines() == moved.head->lines() && same.body == moved.body);
  RINGSIDE_CHECK(same.head->vary() == moved.head->vary() && same.extent == moved.extent);
  RINGSIDE_CHECK(same.head->freshness() == moved.head->freshness());
}

}  // namespace

void examine(std::string_view input) {
  while (!input.empty()) {
    const auto item = cache::take_moved(input, asked);
    if (!item) return check_message(item.error());
    const auto* const moved = std::get_if<cache::MovedResponse>(&*item);
    if (moved == nullptr) continue;
    RINGSIDE_CHECK(moved->key.uri_size_bytes <= moved->key.text.size() && moved->key.bucket);
    RINGSIDE_CHECK(age(moved->head->freshness(), asked.resident) >= Seconds{0});
    write_again(*moved);
  }
}

}  // namespace ringside::fuzz
