#include "program/state_writer.h"

#include <fmt/format.h>

#include <utility>

#include "program/member_source.h"

namespace ringside::program {
namespace {

constexpr std::string_view config_map_prefix = "configmap:";

}  // namespace

Result<StateWriter> StateWriter::parse(std::string_view text) {
  if (text == "self") return StateWriter{};
  if (text.starts_with(config_map_prefix)) {
    auto name = parse_config_map_name(text.substr(config_map_prefix.size()));
    if (!name) return name.error();
    return StateWriter{std::nullopt, *std::move(name)};
  }
  auto at = Endpoint::parse(text);
  if (!at) {
    return invalid_input(at.error().message +
                         "; or write self, for this process, or configmap:NAME");
  }
  if (at->port == 0) return invalid_input("nobody is reached at port 0; write the writer's");
  return StateWriter{*std::move(at)};
}

std::string StateWriter::text() const {
  if (at) return at->text();
  if (!config_map) return "self";
  return fmt::format("{}{}{}{}", config_map_prefix, config_map->name_space,
                     config_map->name_space.empty() ? "" : "/", config_map->name);
}

}  // namespace ringside::program
