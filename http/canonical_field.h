#pragma once

#include <string>
#include <string_view>

#include "http/field_lines.h"
#include "http/fields.h"

namespace ringside::http {

// The one form in which a request's field tells variants apart (RFC 9111 §4.1) and in which the
// origin is sent it. That both come from here is what makes it safe: what is equal here is equal at
// the origin, so nobody fills the variant of others by another spelling of it that an origin takes
// for something else. Spellings that mean the same are made one only so that less is fetched.
//
// - Accept-Encoding, Accept-Language, Accept-Charset (RFC 9110 §12.5.2 to §12.5.4): one case, one
//   way to write a weight, no repeated and no empty members, by falling weight. The order of equal
//   weights means nothing in Accept-Encoding; in the other two origins do go by it ("some
//   recipients treat the order in which language tags are listed as an indication of descending
//   priority", §12.5.4), so `en, de` and `de, en` stay two. Tags get the case of RFC 5646 §2.1.1
//   (`pt-BR`), which browsers send, and not lower case: there are origins that compare bytes.
// - Accept (§12.5.1): the case of media ranges without parameters, and how their weights are
//   written; no empty members. A range with parameters stays as it is, and so does the order.
// - Other fields: lines become one line (§5.3), and a comma outside of quoted strings has one space
//   behind it and none before it. Nothing else: whether an empty member, case or order mean
//   something is for those to say who know the field. Not what is known to be no list, such as
//   Cookie and User-Agent, nor where a quoted string has no end: these stay as they came.
// - A field of the first four with a member that its grammar does not have, with two weights for
// one
//   thing, or with more than limits::structured_members members is written as any other list.
//
// A request with Authorization or Signature stays as it came, all of it: its sender may have signed
// the bytes of any field.
//
// Appends the value of each line that comes of it, each with `\r` behind it, which no value has.
// Nothing where the request has no such field.
void append_canonical(std::string& out, const Fields& request, std::string_view name);

// Adds those lines, under the name as `first`, one of the request's, has it.
void add_canonical(FieldLines& out, const Fields& request, const Field& first);

// Whether an earlier line of the request has the name of `line`, which is one of its lines.
[[nodiscard]] bool is_continued_line(const Fields& request, const Field& line) noexcept;

}  // namespace ringside::http
