#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringside::http {

// What is to be removed of what is stored, of all shard keys and in all variants.
struct PurgeTarget {
  enum class Scope : std::uint8_t {
    uri,
    below,      // every URI that begins so, such as `/films/`
    everything  // of every host
  };
  Scope scope = Scope::uri;
  std::string host{};            // normalised
  std::string path_and_query{};  // normalised; of `below` the beginning of a path

  [[nodiscard]] static PurgeTarget all() { return {Scope::everything, "localhost", "*"}; }
  // As a PURGE has it: `*` is everything.
  [[nodiscard]] static PurgeTarget of_request(std::string_view host, std::string_view target) {
    return {target == "*" ? Scope::everything : Scope::uri, std::string(host), std::string(target)};
  }
};

}  // namespace ringside::http
