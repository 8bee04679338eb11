#pragma once

#include <cstdint>

#include "base/clock.h"
#include "http/fields.h"

namespace ringside::http {

// Weak comparison of two entity tags (RFC 9110 §8.8.3.2).
[[nodiscard]] bool same_entity(std::string_view a, std::string_view b) noexcept;

// The conditions of a request are looked at in the order of RFC 9110 §13.2.2: first
// is_not_modified, which 304 answers; then, for a GET with Range, range_applies, which 206 or 416
// answers where it holds; else the whole.

// True where a GET's or HEAD's own conditions say that its sender has this response already, so
// that 304 answers it: If-None-Match, else If-Modified-Since (RFC 9110 §13.2.2, RFC 9111 §4.3.2).
[[nodiscard]] bool is_not_modified(const Fields& request, const Fields& stored,
                                   TimePoint now) noexcept;

// True where the Range of a GET is to be heeded as far as If-Range goes (RFC 9110 §13.1.5): there
// is none, or it names exactly the stored response, by its strong entity tag or by a Last-Modified
// that is a strong validator. Where false, or If-Range is malformed, Range is ignored.
[[nodiscard]] bool range_applies(const Fields& request, const Fields& stored,
                                 TimePoint now) noexcept;

// True where a request has conditions that are the origin's alone, If-Match or If-Unmodified-Since:
// they "are not applicable to a cache" (RFC 9111 §4.3.2).
[[nodiscard]] bool has_origin_condition(const Fields& request) noexcept;

// True for the fields of a stored response that a 304 made of it has (RFC 9110 §15.4.5): all but
// what describes the content, which is not sent. Content-Location may, and must, stand.
[[nodiscard]] bool belongs_in_not_modified(std::string_view field_name) noexcept;

// True for the request fields that make it conditional or partial; a request that fills the store
// goes without them.
[[nodiscard]] bool is_condition(std::string_view field_name) noexcept;

// True where pieces of the two responses are pieces of the same bytes, so that they may be put
// together (RFC 9111 §3.4, RFC 9110 §15.3.7.3): both have the same strong entity tag. Last-Modified
// does not count, strong by its distance from Date or not: an object built from pieces that differ
// is broken for all who get it, and clocks and files' times are not worth that.
[[nodiscard]] bool same_strong_validator(const Fields& a, const Fields& b) noexcept;

// True where a 304 with the fields `received` confirms the stored response (RFC 9111 §4.3.4), whose
// validators were the conditions of the request that it answers, and no other's: that makes it the
// only candidate, so that a 304 without any validator is about it. Where false the 304 is about a
// response that we don't have, and must not update this one.
[[nodiscard]] bool confirms(const Fields& stored, const Fields& received, TimePoint now) noexcept;

// What HEAD's answer says of a stored answer to GET that could have been chosen for the same
// request (RFC 9111 §4.3.5).
enum class HeadFinding {
  updates,  // it is the same response: the answer's fields replace the stored ones, as a 304's do
  invalidates,  // it is another: the stored one counts as stale
  nothing,      // only a 200 says anything
};
struct GetResponse {
  int status;
  const Fields& fields;
  std::uint64_t length_bytes;  // of the whole body, also where only a part of it is stored
};
[[nodiscard]] HeadFinding head_finding(const GetResponse& stored, int status,
                                       const Fields& received) noexcept;

}  // namespace ringside::http
