#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cache/stored_response.h"
#include "http/vary.h"
#include "tests/cache/some_fields.h"
#include "tests/support/fake_clock.h"

namespace ringside::cache {

// A stored answer to `request`, received at FakeClock::start.
inline StoredPointer response_of(const http::Fields& fields, std::string_view body,
                                 const http::Fields& request = {}) {
  const TimePoint now = support::FakeClock::start;
  http::ResponseHead head;
  head.status = 200;
  head.reason = "OK";
  head.fields = fields;
  const Rules rules;
  const auto freshness =
      freshness_of({200, fields, effective_directives(fields, rules), {now, now}, rules});
  auto vary = http::vary_names(fields);
  auto variant = http::variant_key(vary, request);
  auto whole = make_body();
  constexpr std::size_t piece_size_bytes = 65'536;
  for (auto rest = body; !rest.empty(); rest.remove_prefix(whole->pieces.back()->bytes().size())) {
    whole->pieces.push_back(std::make_shared<const Piece>(rest.substr(0, piece_size_bytes)));
  }
  whole->pieces.shrink_to_fit();
  whole->size_bytes = body.size();
  return make_stored(
      {std::allocate_shared<const StoredHead>(
           CellAllocator<const StoredHead>(), head,
           StoredHead::Making{freshness, "cache-0", std::move(vary), std::move(variant), {}}),
       std::move(whole)});
}

inline StoredPointer response_of(std::string_view body) {
  return response_of(fields_of({{"Cache-Control", "max-age=60"}}), body);
}

inline std::string body_of(const StoredPointer& response) {
  std::string body;
  for (const PiecePointer& piece : response->body->pieces) body += piece->bytes();
  return body;
}

}  // namespace ringside::cache
