#include "program/peer_keys.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/limits.h"

namespace ringside::program {

namespace {

// By chance a key has many different characters: one of few was typed, and can be found by trying.
Result<void> check_drawn(const std::vector<std::string>& keys) {
  constexpr std::size_t least_different = 8;
  for (const std::string& key : keys) {
    const std::size_t different = std::set<char>(key.begin(), key.end()).size();
    if (different >= least_different) continue;
    return invalid_input(
        fmt::format("a key of {} different characters can be found by trying; `openssl rand -hex "
                    "32` makes one that can't",
                    different));
  }
  if (keys.size() == 2 && keys[0] == keys[1]) {
    return invalid_input(
        "the same key stands there twice; keep it once, or put the next one below");
  }
  return {};
}

}  // namespace

Result<PeerKeysPointer> load_peer_keys(const Configuration& configuration) {
  const std::string& path = configuration.peer_key_file;
  if (path.empty()) return PeerKeysPointer();
  const auto wrong = [&](const std::string& what) {
    return invalid_input(fmt::format("{}: {}", configuration.place("peer-key-file"), what));
  };
  const auto text = read_file(path, limits::peer_key_file_size_bytes);
  if (!text) {
    return wrong(text.error().message +
                 "; give a file that this process may read, with a key made by `openssl rand -hex "
                 "32`");
  }
  auto keys = hop::PeerKeys::parse(*text);
  if (!keys) return wrong(fmt::format("{}: {}", path, keys.error().message));
  if (auto drawn = check_drawn(keys->all()); !drawn) {
    return wrong(fmt::format("{}: {}", path, drawn.error().message));
  }
  return std::make_shared<const hop::PeerKeys>(*std::move(keys));
}

}  // namespace ringside::program
