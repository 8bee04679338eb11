#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cache/rules.h"

// How the values of caching rules are written, as program/values.h does it for options.
namespace ringside::program {

// `404` or `200-299`, of final statuses; the TTL is left at 0.
[[nodiscard]] Result<cache::StatusTtl> parse_statuses(std::string_view text);
[[nodiscard]] std::string statuses_text(const cache::StatusTtl& statuses);

// `header:NAME`, `cookie:NAME` or `query:NAME`, each also with `=VALUE`.
[[nodiscard]] Result<cache::Condition> parse_condition(std::string_view text);
[[nodiscard]] std::string condition_text(const cache::Condition& condition);

[[nodiscard]] Result<cache::SetCookie> parse_set_cookie(std::string_view text);
[[nodiscard]] std::string_view set_cookie_text(cache::SetCookie choice) noexcept;
[[nodiscard]] Result<cache::InvalidAge> parse_invalid_age(std::string_view text);
[[nodiscard]] std::string_view invalid_age_text(cache::InvalidAge choice) noexcept;

// `honour`, `ignore`, or a time: once in so long.
[[nodiscard]] Result<std::optional<Seconds>> parse_client_no_cache(std::string_view text);
[[nodiscard]] std::string client_no_cache_text(const std::optional<Seconds>& rule);

// A part of a query in the form that requests' queries are brought into.
[[nodiscard]] Result<std::string> normalised_query_part(std::string_view text);

// The name of a query's parameter as requests have it after normalisation; a `*` at its end stands
// for whatever follows.
[[nodiscard]] Result<std::string> parse_parameter_name(std::string_view text);

// `refuse` or `keep`.
[[nodiscard]] Result<bool> parse_refusal(std::string_view text);
[[nodiscard]] std::string_view refusal_text(bool refuses) noexcept;

// In lower case; not `*`.
[[nodiscard]] Result<std::string> parse_content_coding(std::string_view text);

// A field like CDN-Cache-Control (RFC 9213 §2), not one that is heeded anyway.
[[nodiscard]] Result<std::string> parse_targeted_field(std::string_view text);

// Names of fields that may be set or removed: none that frames the message, belongs to one
// connection, describes how the body is encoded, or is written by Ringside itself.
[[nodiscard]] Result<std::string> parse_request_field(std::string_view text);
[[nodiscard]] Result<std::string> parse_response_field(std::string_view text);

// A token, of limits::rule_name_size_bytes at most.
[[nodiscard]] Result<std::string> parse_header_name(std::string_view text);

// Printable ASCII and tabs, as RFC 9110 §5.5 wants it of senders: above all no line end.
[[nodiscard]] Result<std::string> parse_field_value(std::string_view text);

// `0`: none.
[[nodiscard]] Result<std::size_t> parse_slice(std::string_view text);

}  // namespace ringside::program
