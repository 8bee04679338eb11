#include "cache/flight_body.h"

#include <algorithm>

#include "base/limits.h"
#include "cache/origin.h"
#include "cache/representation.h"

namespace ringside::cache {

bool FlightBody::is_full() const noexcept {
  return window_.length_bytes && given_ >= *window_.length_bytes;
}

// What of the next bytes lies in the window.
void FlightBody::add(std::string_view bytes) {
  const std::uint64_t skipped =
      std::min<std::uint64_t>(bytes.size(), window_.first - std::min(window_.first, at_));
  at_ += bytes.size();
  bytes.remove_prefix(skipped);
  if (window_.length_bytes) bytes = bytes.substr(0, *window_.length_bytes - given_);
  if (bytes.empty()) return;
  given_ += bytes.size();
  views_.push_back(bytes);
}

Result<http::Pulled> FlightBody::pulled(Result<Flight::Reader::Taken> taken) {
  if (!taken) return taken.error();
  pieces_ = std::move(taken->pieces);
  views_.clear();
  for (const PiecePointer& piece : pieces_) add(piece->bytes());
  return http::Pulled{views_, taken->last || is_full()};
}

std::optional<Result<http::Pulled>> FlightBody::take() {
  if (rest_) {
    auto pulled = rest_->take();
    if (!pulled) return std::nullopt;
    return count_failure(*std::move(pulled));
  }
  auto taken = reader_->take();
  if (!taken || (!*taken && reader_->left_behind())) return std::nullopt;
  return pulled(*std::move(taken));
}

Task<Result<http::Pulled>> FlightBody::pull() {
  if (rest_) co_return count_failure(co_await rest_->pull());
  auto taken = co_await reader_->next(limits::upstream_io_timeout);
  if (!taken && reader_->left_behind()) co_return co_await begin_rest(taken.error());
  co_return pulled(std::move(taken));
}

Result<http::Pulled> FlightBody::count_failure(Result<http::Pulled> of_rest) {
  if (!of_rest) transaction_.core.sheet.count_error(of_rest.error());
  return of_rest;
}

Task<Result<http::Pulled>> FlightBody::begin_rest(Error error) {
  if (!answer_.length_bytes) co_return error;
  const std::uint64_t base = answer_.extent ? answer_.extent->first_byte : 0;
  const std::uint64_t end =
      window_.length_bytes ? window_.first + *window_.length_bytes : *answer_.length_bytes;
  const http::ByteSpan span{base + std::max(at_, window_.first), base + end - 1};
  views_.clear();
  pieces_.clear();  // they are written: who pulls has sent what it had
  rest_ = co_await ask_for_span(transaction_, *answer_.head, span);
  if (!rest_) co_return error;
  co_return co_await pull();
}

void give_flight(Transaction& transaction, std::unique_ptr<Flight::Reader> reader,
                 const Flight::Answer& answer, http::Response& response) {
  ResponseNotes notes = transaction.notes();
  const Seconds current_age = age(answer.head->freshness(), transaction.resident_now());
  // What the holder had stored has an Age, even if it is 0 (RFC 9111 §4).
  if (answer.was_stored || current_age > Seconds{0}) notes.age = current_age;
  notes.age_beyond = age_beyond(answer.head->freshness(), transaction.resident_now());
  // Where it is a part, it is the one that was asked for, and nothing else. Several ranges of what
  // is still coming would have to be kept until it is their turn; the whole is an answer, too (RFC
  // 9110 §14.2).
  const auto complete_length =
      answer.extent ? answer.extent->complete_length_bytes : answer.length_bytes;
  const Representation representation{answer.head, complete_length, answer.length_bytes};
  const auto selection = begin_response(transaction, representation, notes, response);
  Window window{0, answer.length_bytes};
  if (selection.kind == Selection::Kind::parts) {
    const http::ByteSpan span = selection.spans.front();
    window = {span.first - (answer.extent ? answer.extent->first_byte : 0), span.size()};
  } else if (selection.kind != Selection::Kind::whole) {
    return;
  }
  response.head_waits = true;
  response.body =
      http::Body(std::make_unique<FlightBody>(transaction, std::move(reader), answer, window));
}

}  // namespace ringside::cache
