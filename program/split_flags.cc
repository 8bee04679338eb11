#include "program/split_flags.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace ringside::program {

void add_split_flags(CLI::App& app, std::string& admins, SplitOptions& out) {
  app.add_option("SHARD", out.shard, "Its number or its name, as GET /topology tells");
  app.add_option("--at", out.at, "Where it is cut, or the key that is placed; may be given again")
      ->type_name("KEY")
      ->allow_extra_args(false);
  app.add_option("--to", out.to, "The replica that has the new one; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--admin", admins,
                 "The admin pages of all processes of the tier (default 127.0.0.1:9090)")
      ->type_name("ADDRESS:PORT,...");
}

Result<void> read_split_flags(const std::string& admins, SplitOptions& out) {
  if (admins.empty()) return {};
  out.admins.clear();
  for (std::string_view left = admins; !left.empty();) {
    const std::size_t end = std::min(left.find(','), left.size());
    auto admin = Endpoint::parse(left.substr(0, end));
    if (!admin) return invalid_input("--admin: " + admin.error().message);
    out.admins.push_back(*std::move(admin));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return {};
}

}  // namespace ringside::program
