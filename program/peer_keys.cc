#include "program/peer_keys.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

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

std::string peer_warning(Command command, const Configuration& configuration) {
  if (configuration.insecure_peers && command != Command::up) {
    return fmt::format(
        "{}: whoever reaches a replica's port can say what only sidecars should; give all of the "
        "tier a --peer-key-file instead",
        configuration.place("insecure-peers"));
  }
  const std::string& path = configuration.peer_key_file;
  struct stat status {};
  struct statvfs where {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return {};
  if ((status.st_mode & S_IROTH) == 0) return {};
  // A container's mount of a Secret: it can't be changed there, and has no other users.
  if (::statvfs(path.c_str(), &where) == 0 && (where.f_flag & ST_RDONLY) != 0) return {};
  return fmt::format("{}: every user of this machine can read {}; `chmod o-r {}`",
                     configuration.place("peer-key-file"), path, path);
}

}  // namespace ringside::program
