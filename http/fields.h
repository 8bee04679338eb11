#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "http/field_name.h"

namespace ringside::http {

// Without spaces and tabs at either end (OWS, RFC 9110 §5.6.3).
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

// What stands between quotes in a list: quoted strings (RFC 9110 §5.6.4), in which a backslash
// escapes, or entity tags (§8.8.3), in which it is a character like others.
enum class Quoted { strings, entity_tags };

// Where the member of a comma-separated list that begins at `start` ends: the index of its comma,
// or the list's size. Commas between quotes end nothing.
[[nodiscard]] std::size_t end_of_member(std::string_view list, std::size_t start,
                                        Quoted quoted = Quoted::strings) noexcept;

// One field line. Views into bytes that somebody else keeps (a connection's buffer, a stored head).
struct Field {
  std::string_view name;   // as received
  std::string_view value;  // without surrounding white space
};

// The field lines of one message in order of arrival. Non-owning.
class Fields {
 public:
  void add(std::string_view field_name, std::string_view value) {
    lines_.push_back({field_name, value});
    marks_ |= name_mark(field_name);
  }
  void clear() noexcept {
    lines_.clear();
    marks_ = 0;
  }
  void remove(std::string_view field_name);
  template <class Wanted>
  void keep(const Wanted& wanted) {
    std::erase_if(lines_, [&](const Field& field) { return !wanted(field); });
  }

  // The value of the first line of that name.
  [[nodiscard]] std::optional<std::string_view> first(std::string_view field_name) const noexcept {
    return may_have(field_name) ? find(field_name) : std::nullopt;
  }
  // All lines of that name joined with ", " (RFC 9110 §5.3); nullopt where there is none.
  [[nodiscard]] std::optional<std::string> combined(std::string_view field_name) const;
  [[nodiscard]] std::size_t count(std::string_view field_name) const noexcept;
  [[nodiscard]] bool has(std::string_view field_name) const noexcept {
    return first(field_name).has_value();
  }
  // False only where there is no such line: cheap, for a loop that would look for it in vain.
  [[nodiscard]] bool may_have(std::string_view field_name) const noexcept {
    return (marks_ & name_mark(field_name)) != 0;
  }

  // Calls visit(value) for each line of that name, in order. A visit that returns bool ends the
  // walk with false.
  template <class Visit>
  void for_each(std::string_view field_name, const Visit& visit) const {
    if (!may_have(field_name)) return;
    for (const Field& line : lines_) {
      if (!same_token(line.name, field_name)) continue;
      if constexpr (std::is_same_v<std::invoke_result_t<Visit, std::string_view>, bool>) {
        if (!visit(line.value)) return;
      } else {
        visit(line.value);
      }
    }
  }

  [[nodiscard]] auto begin() const noexcept { return lines_.begin(); }
  [[nodiscard]] auto end() const noexcept { return lines_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }

 private:
  [[nodiscard]] std::optional<std::string_view> find(std::string_view field_name) const noexcept;

  std::vector<Field> lines_;
  std::uint64_t marks_ = 0;  // of all names that were ever added
};

// True for the fields that always concern one connection only and are never forwarded or stored
// (RFC 9110 §7.6.1, and the proxy authentication of §11.7, which ends at us).
[[nodiscard]] bool is_hop_by_hop(std::string_view field_name) noexcept;

// The fields of one message that concern its connection only: those, and what its Connection names.
// Fields meant for all recipients can't be named away (§7.6.1): Authorization, Cache-Control,
// Content-Length, Host, Vary stay, so that nobody can strip a message of its framing or of what
// makes it private. Reads Connection once; views into the message.
class HopByHop {
 public:
  explicit HopByHop(const Fields& message);
  [[nodiscard]] bool has(std::string_view field_name) const noexcept;
  // What Connection names beside the fixed ones.
  [[nodiscard]] const std::vector<std::string_view>& named() const noexcept { return named_; }

 private:
  std::vector<std::string_view> named_;
};

// True for the fields that Ringside's processes say to each other (`Ringside-…`). Stripped from
// what clients and origins send.
[[nodiscard]] bool is_internal(std::string_view field_name) noexcept;

// Calls visit(member) for each non-empty member of a comma-separated list (RFC 9110 §5.6.1), quoted
// strings kept whole, white space trimmed. A visit that returns bool ends the walk with false. A
// quoted string without an end reaches to the end of the list.
template <class Visit>
void for_each_member(std::string_view list, Visit&& visit, Quoted quoted = Quoted::strings) {
  for (std::size_t start = 0; start < list.size();) {
    const std::size_t end = end_of_member(list, start, quoted);
    const std::string_view member = trimmed(list.substr(start, end - start));
    start = end + 1;
    if (member.empty()) continue;
    if constexpr (std::is_same_v<std::invoke_result_t<Visit&, std::string_view>, bool>) {
      if (!visit(member)) return;
    } else {
      visit(member);
    }
  }
}

}  // namespace ringside::http
