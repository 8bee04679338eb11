#pragma once

#include <string>
#include <string_view>

// How shard keys are shown and written: `DE /list` for `DE\n/list\n`.
namespace ringside::program {

// Values with a blank between them; a value's own blank, its backslash, and what is not printable,
// as `\x20`. What ends the last value is left out.
[[nodiscard]] std::string key_text(std::string_view key);

// The same of a key as a state names it (shard::Shard::at), which has nothing behind its last
// value.
[[nodiscard]] std::string key_text_of_at(std::string_view at);

// The key that such a text means, without what ends the last value; `\n` is a blank's other form.
[[nodiscard]] std::string key_of_text(std::string_view text);

}  // namespace ringside::program
