#include "cache/moved_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "http/characters.h"

namespace ringside::cache {
namespace {

// The numbers of an item's line, in their order.
struct Number {
  enum Place : std::size_t {
    bucket_number,
    key_hash,
    own_hash,
    uri_size,
    status,
    lifetime_s,
    initial_age_s,
    kept_ms,
    lifetime_source,
    flags,
    stale_while_revalidate_s,  // one more than it is; 0: nobody said
    stale_if_error_s,          // likewise
    first_byte,
    complete_length,  // 0: the body is whole
    key_size,
    vary_size,
    variant_size,
    reason_size,
    lines_size,
    body_size,
    count
  };
};
using Numbers = std::array<std::uint64_t, Number::count>;

constexpr std::uint64_t no_cache_flag = 1;
constexpr std::uint64_t must_revalidate_flag = 2;
constexpr std::uint64_t immutable_flag = 4;
constexpr std::uint64_t warm_flag = 8;
constexpr std::uint64_t all_flags =
    no_cache_flag | must_revalidate_flag | immutable_flag | warm_flag;
constexpr std::uint64_t seconds_most = std::uint64_t{1} << 40;

Error malformed(std::string_view what) {
  return {ErrorKind::malformed, ErrorSource::peer, Retry::no,
          fmt::format("a moved response: {}", what)};
}

std::uint64_t one_more(const std::optional<Seconds>& time) {
  return time ? static_cast<std::uint64_t>(time->count()) + 1 : 0;
}

std::optional<Seconds> one_less(std::uint64_t number) {
  if (number == 0) return std::nullopt;
  return Seconds(static_cast<std::int64_t>(number - 1));
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(name).append("\n");
  return text;
}

// The numbers on the line up to the line feed, each after a space.
template <std::size_t count>
bool take_numbers(std::string_view& batch, std::array<std::uint64_t, count>& numbers) {
  const std::size_t size = batch.find('\n');
  if (size == std::string_view::npos) return false;
  const char* next = batch.data();
  const char* const end = next + size;
  for (std::uint64_t& number : numbers) {
    if (next == end || *next != ' ') return false;
    const auto parsed = std::from_chars(next + 1, end, number);
    if (parsed.ec != std::errc{}) return false;
    next = parsed.ptr;
  }
  batch.remove_prefix(size + 1);
  return next == end;
}

std::optional<std::string_view> take_text(std::string_view& batch, std::uint64_t size_bytes) {
  if (size_bytes > batch.size()) return std::nullopt;
  const std::string_view text = batch.substr(0, size_bytes);
  batch.remove_prefix(text.size());
  return text;
}

bool is_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return http::is_in(c, http::kValueClass); });
}

bool are_field_lines(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t size = lines.find("\r\n");
    const std::size_t colon = lines.find(": ");
    if (size == std::string_view::npos || colon >= size) return false;
    const std::string_view value = lines.substr(colon + 2, size - colon - 2);
    if (!http::is_token(lines.substr(0, colon)) || !is_value(value)) return false;
    lines.remove_prefix(size + 2);
  }
  return true;
}

std::optional<std::vector<std::string>> read_vary(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t size = text.find('\n');
    if (size == std::string_view::npos || size == 0) return std::nullopt;
    names.emplace_back(text.substr(0, size));
    text.remove_prefix(size + 1);
  }
  return names;
}

std::optional<Freshness> read_freshness(const Numbers& numbers, TimePoint asked) {
  for (const Number::Place number : {Number::lifetime_s, Number::initial_age_s,
                                     Number::stale_while_revalidate_s, Number::stale_if_error_s}) {
    if (numbers[number] > seconds_most) return std::nullopt;
  }
  const bool is_source =
      numbers[Number::lifetime_source] <= static_cast<std::uint64_t>(LifetimeSource::heuristic);
  if (!is_source || numbers[Number::kept_ms] > seconds_most) return std::nullopt;
  // What a newer version says with another flag may be what must not be given.
  if ((numbers[Number::flags] & ~all_flags) != 0) return std::nullopt;
  Freshness freshness;
  freshness.lifetime = Seconds(static_cast<std::int64_t>(numbers[Number::lifetime_s]));
  freshness.initial_age = Seconds(static_cast<std::int64_t>(numbers[Number::initial_age_s]));
  freshness.received = asked - Milliseconds(static_cast<std::int64_t>(numbers[Number::kept_ms]));
  freshness.source = static_cast<LifetimeSource>(numbers[Number::lifetime_source]);
  freshness.no_cache = (numbers[Number::flags] & no_cache_flag) != 0;
  freshness.must_revalidate = (numbers[Number::flags] & must_revalidate_flag) != 0;
  freshness.immutable = (numbers[Number::flags] & immutable_flag) != 0;
  freshness.stale_while_revalidate = one_less(numbers[Number::stale_while_revalidate_s]);
  freshness.stale_if_error = one_less(numbers[Number::stale_if_error_s]);
  return freshness;
}

Result<MovedItem> take_response(std::string_view& batch, TimePoint asked) {
  Numbers numbers{};
  if (!take_numbers(batch, numbers)) return malformed("its numbers are none");
  std::array<std::string_view, 6> texts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto text = take_text(batch, numbers[Number::key_size + i]);
    if (!text) return malformed("it is cut off");
    texts[i] = *text;
  }
  const auto& [key, vary, variant, reason, lines, body] = texts;
  auto names = read_vary(vary);
  auto freshness = read_freshness(numbers, asked);
  const bool is_bucket = numbers[Number::bucket_number] < shard::bucket_count;
  const bool is_key = !key.empty() && numbers[Number::uri_size] <= key.size() && is_bucket;
  const bool is_head = numbers[Number::status] >= 200 && numbers[Number::status] <= 599 &&
                       lines.size() <= limits::hop_head_size_bytes && is_value(reason) &&
                       are_field_lines(lines);
  if (!is_key || !is_head || !names || !freshness) return malformed("it is none");
  MovedResponse moved;
  moved.key = {std::string(key), numbers[Number::uri_size], numbers[Number::key_hash],
               numbers[Number::own_hash],
               static_cast<shard::Bucket>(numbers[Number::bucket_number])};
  moved.head =
      StoredHead::restored({static_cast<int>(numbers[Number::status]), *freshness,
                            *std::move(names), std::string(variant), std::string(reason), lines});
  moved.body = body;
  const bool is_warm = (numbers[Number::flags] & warm_flag) != 0;
  moved.warmth = is_warm ? Store::Warmth::warm : Store::Warmth::cold;
  if (numbers[Number::complete_length] > 0) {
    const std::uint64_t first = numbers[Number::first_byte];
    const std::uint64_t complete = numbers[Number::complete_length];
    if (first >= complete || body.size() > complete - first) return malformed("its part is none");
    moved.extent = Extent{first, complete};
  }
  return MovedItem(std::move(moved));
}

Result<MovedItem> take_mark(std::string_view& batch, SteadyPoint asked) {
  std::array<std::uint64_t, 3> numbers{};
  if (!take_numbers(batch, numbers)) return malformed("its numbers are none");
  const auto& [bucket, hash, left_ms] = numbers;
  constexpr auto most_ms = static_cast<std::uint64_t>(limits::uncacheable_ttl.count());
  if (bucket >= shard::bucket_count || left_ms > most_ms) return malformed("it is none");
  const Milliseconds left{static_cast<std::int64_t>(left_ms)};
  return MovedItem(UncacheableKeys::Mark{hash, static_cast<shard::Bucket>(bucket), asked + left});
}

// All of the item but the body.
void append_head(std::string& batch, const CacheKey& key, const StoredResponse& response,
                 Store::Warmth warmth, TimePoint now) {
  const StoredHead& head = *response.head;
  const Freshness& freshness = head.freshness();
  const auto kept = std::chrono::ceil<Milliseconds>(now - freshness.received);
  const std::string vary = joined(head.vary());
  Numbers numbers{};
  numbers[Number::bucket_number] = key.bucket.value_or(0);
  numbers[Number::key_hash] = key.hash;
  numbers[Number::own_hash] = key.own_hash;
  numbers[Number::uri_size] = key.uri_size_bytes;
  numbers[Number::status] = static_cast<std::uint64_t>(head.status());
  numbers[Number::lifetime_s] = static_cast<std::uint64_t>(freshness.lifetime.count());
  numbers[Number::initial_age_s] = static_cast<std::uint64_t>(freshness.initial_age.count());
  numbers[Number::kept_ms] = static_cast<std::uint64_t>(std::max<std::int64_t>(kept.count(), 0));
  numbers[Number::lifetime_source] = static_cast<std::uint64_t>(freshness.source);
  numbers[Number::flags] = (freshness.no_cache ? no_cache_flag : 0) |
                           (freshness.must_revalidate ? must_revalidate_flag : 0) |
                           (freshness.immutable ? immutable_flag : 0) |
                           (warmth == Store::Warmth::warm ? warm_flag : 0);
  numbers[Number::stale_while_revalidate_s] = one_more(freshness.stale_while_revalidate);
  numbers[Number::stale_if_error_s] = one_more(freshness.stale_if_error);
  if (response.extent) {
    numbers[Number::first_byte] = response.extent->first_byte;
    numbers[Number::complete_length] = response.extent->complete_length_bytes;
  }
  const std::array<std::string_view, 5> texts = {key.text, vary, head.variant(), head.reason(),
                                                 head.lines()};
  for (std::size_t i = 0; i < texts.size(); ++i) numbers[Number::key_size + i] = texts[i].size();
  numbers[Number::body_size] = response.body->size_bytes;
  batch.push_back('R');
  for (const std::uint64_t number : numbers) {
    batch.append(" ").append(fmt::format_int(number).c_str());
  }
  batch.push_back('\n');
  for (const std::string_view text : texts) batch.append(text);
}

}  // namespace

void MovedBatch::append(const CacheKey& key, const StoredResponse& response, Store::Warmth warmth,
                        TimePoint now) {
  append_head(text_, key, response, warmth, now);
  for (const PiecePointer& piece : response.body->pieces) {
    const std::string_view bytes = piece->bytes();
    if (bytes.size() < limits::slab_piece_least_bytes) {
      text_.append(bytes);
    } else {
      kept_.push_back({text_.size(), piece});
      kept_bytes_ += bytes.size();
    }
  }
}

http::Body MovedBatch::body() && {
  if (kept_.empty()) return http::Body(std::move(text_));
  const auto batch = std::make_shared<const MovedBatch>(std::move(*this));
  const std::string_view text = batch->text_;
  std::vector<std::string_view> pieces;
  std::size_t from = 0;
  for (const Kept& kept : batch->kept_) {
    if (kept.place > from) pieces.push_back(text.substr(from, kept.place - from));
    pieces.push_back(kept.piece->bytes());
    from = kept.place;
  }
  if (from < text.size()) pieces.push_back(text.substr(from));
  return {batch, std::move(pieces)};
}

void append_moved(std::string& batch, const UncacheableKeys::Mark& mark, SteadyPoint now) {
  // Another core, whose time is later, may have made it.
  const auto left =
      std::min(std::chrono::floor<Milliseconds>(mark.until - now), limits::uncacheable_ttl);
  if (left.count() <= 0) return;
  fmt::format_to(std::back_inserter(batch), "U {} {} {}\n", mark.bucket, mark.key_hash,
                 left.count());
}

void append_moved(std::string& batch, const MovedBucket& bucket) {
  if (bucket.known_buckets == shard::bucket_count) {
    fmt::format_to(std::back_inserter(batch), "B {} {}\n", bucket.bucket, bucket.epoch);
  } else {
    fmt::format_to(std::back_inserter(batch), "C {} {} {}\n", bucket.bucket, bucket.epoch,
                   bucket.known_buckets);
  }
}

namespace {

// `BUCKET EPOCH`, and then how many the giver knows, or all.
template <std::size_t count>
Result<MovedItem> take_bucket(std::string_view& batch) {
  std::array<std::uint64_t, count> numbers{};
  if (!take_numbers(batch, numbers)) return malformed("no such item");
  const std::uint64_t known = count > 2 ? numbers.back() : shard::bucket_count;
  const bool is_bucket = numbers[0] < shard::bucket_count && known <= shard::bucket_count;
  if (!is_bucket || numbers[1] > limits::epoch_most) return malformed("no bucket");
  return MovedItem(MovedBucket{static_cast<shard::Bucket>(numbers[0]),
                               static_cast<tier::Epoch>(numbers[1]),
                               static_cast<std::size_t>(known)});
}

}  // namespace

Result<MovedItem> take_moved(std::string_view& batch, const AskedAt& asked) {
  const char kind = batch.front();
  batch.remove_prefix(1);
  if (kind == 'R') return take_response(batch, asked.resident);
  if (kind == 'U') return take_mark(batch, asked.steady);
  if (kind == 'B') return take_bucket<2>(batch);
  if (kind == 'C') return take_bucket<3>(batch);
  return malformed("no such item");
}

}  // namespace ringside::cache
