#include "program/peer_keys.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/limits.h"

namespace ringside::program {

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
  return std::make_shared<const hop::PeerKeys>(*std::move(keys));
}

}  // namespace ringside::program
