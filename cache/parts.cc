#include "cache/parts.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "http/conditional.h"

namespace ringside::cache {
namespace {

std::uint64_t first_byte(const StoredResponse& stored) noexcept {
  return stored.extent ? stored.extent->first_byte : 0;
}

// After the last stored byte.
std::uint64_t end_byte(const StoredResponse& stored) noexcept {
  return first_byte(stored) + stored.body->size_bytes;
}

// Appends to `body` what `from` has of the bytes from `first` to before `end`.
void append(Body& body, const StoredResponse& from, std::uint64_t first, std::uint64_t end) {
  std::uint64_t at = first_byte(from);
  for (const PiecePointer& piece : from.body->pieces) {
    const std::uint64_t piece_end = at + piece->bytes().size();
    const std::uint64_t begin = std::max(first, at);
    const std::uint64_t stop = std::min(end, piece_end);
    if (begin < stop) {
      const bool is_whole = begin == at && stop == piece_end;
      body.pieces.push_back(is_whole ? piece
                                     : std::make_shared<const Piece>(
                                           piece->bytes().substr(begin - at, stop - begin)));
      body.size_bytes += stop - begin;
    }
    at = piece_end;
  }
}

bool is_told_apart(const StoredResponse& a, const StoredResponse& b) noexcept {
  const auto differs = [&](std::string_view name) {
    return a.head->fields().first(name) != b.head->fields().first(name);
  };
  return differs("etag") || differs("last-modified") ||
         complete_length_bytes(a) != complete_length_bytes(b);
}

}  // namespace

bool covers(const StoredResponse& stored, const std::vector<http::ByteSpan>& spans) noexcept {
  return std::all_of(spans.begin(), spans.end(), [&](const http::ByteSpan& span) {
    return span.first >= first_byte(stored) && span.last < end_byte(stored);
  });
}

std::uint64_t complete_length_bytes(const StoredResponse& stored) noexcept {
  return stored.extent ? stored.extent->complete_length_bytes : stored.body->size_bytes;
}

StoredPointer combined(const StoredResponse& stored, StoredPointer fresh) {
  const bool one_entity =
      http::same_strong_validator(stored.head->fields(), fresh->head->fields()) &&
      complete_length_bytes(stored) == complete_length_bytes(*fresh);
  const bool touch =
      first_byte(stored) <= end_byte(*fresh) && first_byte(*fresh) <= end_byte(stored);
  if (!fresh->extent || !one_entity || !touch) return fresh;
  auto body = make_body();
  append(*body, stored, 0, first_byte(*fresh));
  append(*body, *fresh, first_byte(*fresh), end_byte(*fresh));
  append(*body, stored, end_byte(*fresh), end_byte(stored));
  const Extent extent{std::min(first_byte(stored), first_byte(*fresh)),
                      complete_length_bytes(*fresh)};
  const bool is_complete = body->size_bytes == extent.complete_length_bytes;
  return make_stored(
      {fresh->head, std::move(body), is_complete ? std::nullopt : std::optional(extent)});
}

StoredPointer kept_of(const StoredPointer& stored, StoredPointer fresh, std::uint64_t most_bytes) {
  if (!stored) return fresh;
  auto both = combined(*stored, fresh);
  if (both != fresh) return both->body->size_bytes <= most_bytes ? both : fresh;
  const bool is_whole = !stored->extent && stored->head->status() == 200;
  return is_whole && !is_told_apart(*stored, *fresh) ? stored : fresh;
}

std::vector<std::string_view> bytes_of(const StoredResponse& stored, const http::ByteSpan& span) {
  std::vector<std::string_view> views;
  std::uint64_t at = first_byte(stored);
  RINGSIDE_CHECK(span.first >= at && span.last < end_byte(stored));
  for (const PiecePointer& piece : stored.body->pieces) {
    const std::uint64_t piece_end = at + piece->bytes().size();
    const std::uint64_t begin = std::max(span.first, at);
    const std::uint64_t stop = std::min(span.last + 1, piece_end);
    if (begin < stop) views.push_back(piece->bytes().substr(begin - at, stop - begin));
    at = piece_end;
  }
  return views;
}

}  // namespace ringside::cache
