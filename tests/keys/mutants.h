#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ringside::keys {

// A mistake in what is keyed or forwarded, in this program alone; made as tests/model does it.
enum class Mutant {
  none,
  vary_by_meaning,              // spellings that mean the same are one key; the origin gets each
  first_cookie_alone,           // of a cookie that stands twice
  underscores_pass,             // X_Country reaches the origin
  proxies_word_not_keyed,       // X-Forwarded-Host of a trusted proxy reaches it, without a key
  clients_believed_as_proxies,  // and that of a client
  escaped_slashes_unseen,       // /static/..%2faccount is of /static
};

struct MutantRow {
  Mutant mutant;
  std::string_view name;
  std::size_t requests;  // within which the property notices
};
[[nodiscard]] std::span<const MutantRow> mutants() noexcept;

void choose(Mutant mutant) noexcept;

}  // namespace ringside::keys
