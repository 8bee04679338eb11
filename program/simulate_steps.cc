#include "program/simulate_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/simulate_limits.h"
#include "program/values.h"
#include "shard/quotation.h"
#include "shard/schemes.h"

namespace ringside::program {
namespace {

using shard::quotation;
using Weights = std::map<std::string, std::uint32_t, std::less<>>;

constexpr std::string_view prefix = "-cache-";

Error wrong_step(std::string_view text, std::string_view why) {
  return invalid_input(fmt::format(
      "--replicas: {} {}; write numbers such as 10,11,12,10, or 11-cache-3 for eleven without "
      "cache-3",
      quotation(text), why));
}

Result<simulate::Step> parse_step(std::string_view text) {
  const std::size_t digits = std::min(text.find('-'), text.size());
  const auto count = parse_number(text.substr(0, digits), 1, limits::members);
  if (!count) {
    return wrong_step(text, fmt::format("is no number from 1 to {}", limits::members));
  }
  simulate::Step step{std::string(text), {}};
  for (std::uint64_t i = 0; i < *count; ++i)
    step.members.push_back({fmt::format("cache-{}", i), 1, ""});
  for (std::string_view rest = text.substr(digits); !rest.empty();) {
    const std::size_t end = rest.starts_with(prefix) ? rest.find('-', prefix.size()) : 0;
    const std::string_view name = rest.substr(0, end).substr(std::min<std::size_t>(1, end));
    const auto is_it = [name](const shard::Member& member) { return member.name == name; };
    if (end == 0 || std::erase_if(step.members, is_it) == 0) {
      return wrong_step(text, "takes away what is no replica of it");
    }
    rest.remove_prefix(std::min(end, rest.size()));
  }
  if (step.members.empty()) return wrong_step(text, "leaves no replica");
  return step;
}

Result<Weights> parse_weights(std::string_view text) {
  Weights weights;
  if (text == "-") return weights;
  for (const std::string_view piece : split_list(text)) {
    const std::size_t equals = std::min(piece.find('='), piece.size());
    const std::string_view name = piece.substr(0, equals);
    if (equals == 0 || equals == piece.size()) {
      return invalid_input(
          fmt::format("--weights: {} is no weight; write cache-0=2,cache-3=0, or - for none",
                      quotation(piece)));
    }
    const auto weight = parse_member_weight(piece.substr(equals + 1));
    if (!weight) {
      return invalid_input(
          fmt::format("--weights: {}: {}", quotation(piece), weight.error().message));
    }
    if (!weights.emplace(name, *weight).second) {
      return invalid_input(fmt::format("--weights: {} stands twice", quotation(name)));
    }
  }
  return weights;
}

bool weigh(simulate::Step& step, const std::string& name, std::uint32_t weight) {
  for (shard::Member& member : step.members) {
    if (member.name != name) continue;
    member.weight = weight;
    return true;
  }
  return false;
}

// A list for all steps may name replicas that not all of them have.
Result<void> apply(const Weights& weights, std::span<simulate::Step> steps) {
  for (const auto& [name, weight] : weights) {
    bool known = false;
    for (simulate::Step& step : steps) known = weigh(step, name, weight) || known;
    if (!known) {
      return invalid_input(fmt::format("--weights: {} is no replica of {}; they are cache-0 and on",
                                       quotation(name),
                                       steps.size() == 1 ? "its step" : "any step"));
    }
  }
  return {};
}

Result<void> check_together(const simulate::Step& step) {
  std::uint64_t together = 0;
  for (const shard::Member& member : step.members) together += member.weight;
  const auto checked = shard::check_member_weights(step.members.size(), together);
  if (checked) return {};
  return invalid_input(fmt::format("--weights: of the replicas of {}: the weights {}",
                                   quotation(step.title), checked.error().message));
}

std::string title_of(const simulate::Step& step, std::string_view weights) {
  return weights == "-" ? step.title : fmt::format("{} ({})", step.title, weights);
}

}  // namespace

Result<std::vector<simulate::Step>> parse_steps(std::string_view replicas,
                                                const std::vector<std::string>& weights) {
  std::vector<simulate::Step> steps;
  for (const std::string_view piece : split_list(replicas)) {
    auto step = parse_step(piece);
    if (!step) return step.error();
    steps.push_back(*std::move(step));
  }
  if (steps.empty()) return wrong_step(replicas, "has no steps");
  if (steps.size() > limits::simulate_steps) {
    return invalid_input(
        fmt::format("--replicas: {} steps; at most {}", steps.size(), limits::simulate_steps));
  }
  if (weights.size() > 1 && weights.size() != steps.size()) {
    return invalid_input(fmt::format(
        "--weights: given {} times for {} steps; give it once, or once for each step (- "
        "for none)",
        weights.size(), steps.size()));
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto parsed = parse_weights(weights[i]);
    if (!parsed) return parsed.error();
    const std::span<simulate::Step> all(steps);
    auto applied = apply(*parsed, weights.size() == 1 ? all : all.subspan(i, 1));
    if (!applied) return applied.error();
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (auto checked = check_together(steps[i]); !checked) return checked.error();
    if (weights.size() > 1) steps[i].title = title_of(steps[i], weights[i]);
  }
  return steps;
}

Result<std::vector<std::string>> parse_schemes(std::string_view text) {
  if (text.empty()) {
    const auto names = shard::scheme_names();
    return std::vector<std::string>(names.begin(), names.end());
  }
  std::vector<std::string> schemes;
  for (const std::string_view name : split_list(text)) {
    if (auto entry = shard::find_scheme(name); !entry) {
      return invalid_input("--schemes: " + entry.error().message);
    }
    if (std::find(schemes.begin(), schemes.end(), name) != schemes.end()) {
      return invalid_input(fmt::format("--schemes: {} stands twice", quotation(name)));
    }
    schemes.emplace_back(name);
  }
  return schemes;
}

}  // namespace ringside::program
