#include "program/start_warnings.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "shard/schemes.h"

namespace ringside::program {
namespace {

std::string store_warning(Command command, const Configuration& configuration) {
  if (command != Command::cache) return {};
  const std::string warning = memory_warning(configuration.memory, configuration.machine);
  if (warning.empty()) return {};
  return fmt::format("{}: {}", configuration.place("memory"), warning);
}

std::string insecure_warning(Command command, const Configuration& configuration) {
  if (!configuration.insecure_peers || command == Command::up) return {};
  return fmt::format(
      "{}: whoever reaches a replica's port can say what only sidecars should; give all of the "
      "tier a --peer-key-file instead",
      configuration.place("insecure-peers"));
}

// Of a file with a secret.
std::string secret_warning(const Configuration& configuration, std::string_view option,
                           const std::string& path) {
  struct stat status {};
  struct statvfs where {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return {};
  if ((status.st_mode & S_IROTH) == 0) return {};
  // A container's mount of a Secret: it can't be changed there, and has no other users.
  if (::statvfs(path.c_str(), &where) == 0 && (where.f_flag & ST_RDONLY) != 0) return {};
  return fmt::format("{}: every user of this machine can read {}; `chmod o-r {}`",
                     configuration.place(option), path, path);
}

// Behind a proxy of this machine, or an application, every client looks the same.
std::string trust_warning(Command command, const Configuration& configuration) {
  if (command == Command::cache || !configuration.listen || !uses_country(configuration)) return {};
  const std::string& host = configuration.listen->host;
  const auto address = IpAddress::try_parse(host == "localhost" ? "127.0.0.1" : host);
  if (!address || !address->is_loopback() || any_contains(configuration.trusted, *address) ||
      any_contains(configuration.proxied_from, *address)) {
    return {};
  }
  return fmt::format(
      "{}: who connects to {} has the address {}, whose word on the client is not believed, so "
      "every client is in country ZZ; give --trust {}",
      configuration.place("trust"), configuration.listen->text(), address->text(),
      address->is_v4() ? "127.0.0.0/8" : "::1");
}

// What the schemes of the tier and its routes have a state for.
struct ShardsOf {
  bool are_remembered = false;  // a table, and no shards
  bool are_cut = false;
  bool are_placed = false;
};

ShardsOf shards_of(const Configuration& configuration) {
  ShardsOf out;
  const auto look_at = [&](std::string_view name) {
    const auto scheme = shard::find_scheme(name);
    if (!scheme || !scheme->may_have_state()) return;
    if (scheme->has_table()) return void(out.are_remembered = true);
    (scheme->name == "directory" ? out.are_placed : out.are_cut) = true;
  };
  look_at(configuration.scheme);
  for (const RouteConfiguration& route : configuration.routes) look_at(route.scheme);
  return out;
}

// Of who writes the shards, and of who asks for cuts.
std::string shards_warning(Command command, const Configuration& configuration) {
  const auto& writer = configuration.state_writer;
  const std::string schemes = tier_schemes(configuration);
  const ShardsOf shards = shards_of(configuration);
  const bool cuts = configuration.split_above > 0;
  const bool asks = cuts || configuration.place_keys;
  const bool has_none = !shards.are_cut && !shards.are_placed;
  if (has_none && cuts) {
    return fmt::format(
        "{}: the scheme {} has no shards; give range, ascending, split-tree or directory as "
        "--scheme",
        configuration.place("split-above"), schemes);
  }
  if (has_none && !shards.are_remembered && writer && command != Command::up) {
    return fmt::format(
        "{}: the scheme {} has no state; give vbucket, range, ascending, split-tree or directory "
        "as --scheme",
        configuration.place("state-writer"), schemes);
  }
  if (cuts && !shards.are_cut) {
    return fmt::format("{}: the scheme {} cuts nothing; take it away{}",
                       configuration.place("split-above"), schemes,
                       configuration.place_keys ? "" : ", or give --place-keys");
  }
  if (configuration.place_keys && !shards.are_placed) {
    return fmt::format("{}: the scheme {} places no keys; give directory as --scheme",
                       configuration.place("place-keys"), schemes);
  }
  if (command == Command::up || !writer) return {};
  if (!writer->at && !writer->config_map && configuration.state_file.empty()) {
    return fmt::format(
        "{}: the state is not kept: a restart begins with the first one again; give --state FILE",
        configuration.place("state-writer"));
  }
  const auto address = writer->at ? IpAddress::try_parse(writer->at->host) : std::nullopt;
  const bool is_here = !writer->at || (address && address->is_loopback());
  if (is_here || !asks || !configuration.admin_token_file.empty()) {
    return {};
  }
  return fmt::format(
      "{}: the writer on {} takes cuts from another machine with its token alone; give all of the "
      "tier an --admin-token-file",
      configuration.place("split-above"), writer->at->text());
}

}  // namespace

std::vector<std::string> start_warnings(Command command, const Configuration& configuration) {
  std::vector<std::string> lines = this_machine().complaints;
  for (const std::string& line :
       {store_warning(command, configuration), insecure_warning(command, configuration),
        secret_warning(configuration, "peer-key-file", configuration.peer_key_file),
        secret_warning(configuration, "admin-token-file", configuration.admin_token_file),
        trust_warning(command, configuration), shards_warning(command, configuration)}) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

}  // namespace ringside::program
