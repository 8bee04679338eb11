#include "shard/schemes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "shard/jedis_ring.h"
#include "shard/jump.h"
#include "shard/maglev.h"
#include "shard/modulo.h"
#include "shard/nginx.h"
#include "shard/quotation.h"
#include "shard/rendezvous.h"
#include "shard/ring.h"
#include "shard/simple_sha1.h"
#include "shard/vbucket.h"

namespace ringside::shard {
namespace {

constexpr auto entries = std::to_array<SchemeEntry>({
    {"jedis-ring", make_jedis_ring},
    {"jump", make_jump},
    {"maglev", make_maglev},
    {"modulo", make_modulo},
    {"nginx", make_nginx},
    {"rendezvous", make_rendezvous},
    {"ring", make_ring},
    {"simple-sha1", make_simple_sha1},
    {"vbucket", make_vbucket},
});

}  // namespace

std::span<const SchemeEntry> all_schemes() noexcept { return entries; }

Result<SchemeEntry> find_scheme(std::string_view name) {
  for (const SchemeEntry& entry : entries) {
    if (entry.name == name) return entry;
  }
  return invalid_input(fmt::format("there is no scheme {}; choose one of {}", quotation(name),
                                   fmt::join(scheme_names(), ", ")));
}

std::vector<std::string_view> scheme_names() {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const SchemeEntry& entry : entries) names.push_back(entry.name);
  return names;
}

}  // namespace ringside::shard
