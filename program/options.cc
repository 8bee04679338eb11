#include "program/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace ringside::program {

std::string Option::key() const {
  std::string out(name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

const Option* find_option(std::string_view key) noexcept {
  const auto options = all_options();
  const auto same = [](char of_name, char of_key) {
    return of_key == (of_name == '-' ? '_' : of_name);
  };
  const auto found = std::find_if(options.begin(), options.end(), [&](const Option& option) {
    return std::equal(option.name.begin(), option.name.end(), key.begin(), key.end(), same);
  });
  return found == options.end() ? nullptr : &*found;
}

Result<void> set_from_flag(Configuration& configuration, const Option& option,
                           std::string_view text) {
  std::string place = fmt::format("--{}", option.name);
  auto set = option.value.set(configuration, text);
  if (!set) return invalid_input(fmt::format("{}: {}", place, set.error().message));
  configuration.places.insert_or_assign(std::string(option.name), std::move(place));
  return {};
}

std::string default_text(const Option& option, Command command) {
  if (!option.default_words.empty()) return std::string(option.default_words);
  const nlohmann::ordered_json value = option.value.show(defaults(command));
  if (value.is_null()) return {};
  if (value.is_string()) return value;
  if (!value.is_array()) return value.dump();
  std::string out;
  for (const auto& item : value) out += (out.empty() ? "" : ",") + item.get<std::string>();
  return out;
}

std::vector<std::string> keep_fixed(const Configuration& running, Configuration& next) {
  // A list that stands in the place of a source, or the other way round, is for the restart too.
  if (running.kubernetes != next.kubernetes || running.dns != next.dns) {
    next.replicas = running.replicas;
    next.peers = running.peers;
    next.topology_version = running.topology_version;
  }
  std::vector<std::string> changed;
  for (const Option& option : all_options()) {
    if (option.value.keep != nullptr && option.value.keep(running, next)) {
      changed.emplace_back(option.name);
    }
  }
  return changed;
}

}  // namespace ringside::program
