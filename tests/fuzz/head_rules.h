#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http1/head_parser.h"

namespace ringside::fuzz {

// Limits that a small input can go beyond.
inline constexpr http::HeadLimits narrow_limits{160, 48, 4};

// The whole input with the verdict on it must be what two pieces give, wherever they are cut.
// Returns the head's length where there is one.
std::optional<std::size_t> find_head_in_any_cut(std::string_view bytes,
                                                const http::HeadLimits& limits, ErrorSource source);

// What holds for the fields of every head that was accepted.
void check_fields(std::string_view head, const http::Fields& fields,
                  const http::HeadLimits& limits);
void check_same_fields(const http::Fields& a, const http::Fields& b);
// What the fields say of a body's length, and nothing else, is its framing.
void check_framing(const http::Fields& fields, const http::Framing& framing, int minor_version);
void check_same_framing(const http::Framing& a, const http::Framing& b);

void append_fields(std::string& out, const http::Fields& fields);

}  // namespace ringside::fuzz
