#include "k8s/stateful_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "base/limits.h"
#include "base/quotation.h"
#include "k8s/api_json.h"

namespace ringside::k8s {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

// Decimal digits alone, no more than `most`.
std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > most) {
    return std::nullopt;
  }
  return number;
}

Failure wrong(const StatefulSet& set, std::string_view what) {
  return malformed(fmt::format(
      "annotation {} of StatefulSet {} {}: give one weight for all, as `2`, or weights by name, as "
      "`{}-0=2,{}-3=4`, each from 0 to {}",
      weight_annotation, quotation(set.name), what, set.name, set.name, limits::member_weight));
}

// The ordinal of NAME-N, which may be beyond the present size: a StatefulSet grows and shrinks.
std::optional<std::uint64_t> ordinal_of(const StatefulSet& set, std::string_view name) {
  if (!name.starts_with(set.name)) return std::nullopt;
  name.remove_prefix(set.name.size());
  if (!name.starts_with('-')) return std::nullopt;
  name.remove_prefix(1);
  if (name.size() > 1 && name.starts_with('0')) return std::nullopt;  // no pod is called so
  return whole_number(name, std::numeric_limits<std::int32_t>::max());
}

Outcome<std::uint32_t> read_weight(const StatefulSet& set, std::string_view text) {
  const auto weight = whole_number(text, limits::member_weight);
  if (!weight) return wrong(set, fmt::format("has the weight {}", quotation(text)));
  return static_cast<std::uint32_t>(*weight);
}

// One `NAME-N=W` into `weights`, where the StatefulSet has that replica now.
Outcome<std::uint64_t> read_entry(const StatefulSet& set, std::string_view entry,
                                  std::vector<std::uint32_t>& weights) {
  const auto sign = entry.find('=');
  if (sign == std::string_view::npos) {
    return wrong(set, fmt::format("has {} among weights by name", quotation(entry)));
  }
  const std::string_view name = trimmed(entry.substr(0, sign));
  const auto ordinal = ordinal_of(set, name);
  if (!ordinal) {
    return wrong(set, fmt::format("names {}, which no replica is called", quotation(name)));
  }
  const auto weight = read_weight(set, trimmed(entry.substr(sign + 1)));
  if (!weight) return weight.error();
  if (*ordinal >= set.first_ordinal && *ordinal - set.first_ordinal < weights.size()) {
    weights[*ordinal - set.first_ordinal] = *weight;
  }
  return *ordinal;
}

Outcome<void> read_entries(const StatefulSet& set, std::string_view text,
                           std::vector<std::uint32_t>& weights) {
  std::set<std::uint64_t> named;
  for (bool is_last = false; !is_last;) {
    const auto comma = text.find(',');
    is_last = comma == std::string_view::npos;
    const auto ordinal = read_entry(set, trimmed(text.substr(0, comma)), weights);
    if (!ordinal) return ordinal.error();
    if (!named.insert(*ordinal).second) {
      return wrong(set, fmt::format("names {}-{} twice", set.name, *ordinal));
    }
    if (!is_last) text.remove_prefix(comma + 1);
  }
  return {};
}

}  // namespace

std::vector<std::string> StatefulSet::replica_names() const {
  std::vector<std::string> names;
  names.reserve(replicas);
  for (std::uint64_t i = 0; i < replicas; ++i) {
    names.push_back(fmt::format("{}-{}", name, first_ordinal + i));
  }
  return names;
}

Outcome<std::vector<std::uint32_t>> weights_of(const StatefulSet& set) {
  std::vector<std::uint32_t> weights(set.replicas, 1);
  const std::string_view text = trimmed(set.weight);
  if (text.empty()) return weights;
  if (text.find_first_of("=,") == std::string_view::npos) {
    const auto weight = read_weight(set, text);
    if (!weight) return weight.error();
    std::fill(weights.begin(), weights.end(), *weight);
  } else if (const auto read = read_entries(set, text, weights); !read) {
    return read.error();
  }
  const auto together = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  if (together > limits::topology_weight) {
    return malformed(fmt::format(
        "annotation {} of StatefulSet {}: the weights of its {} replicas add up to {}; at most {}, "
        "so divide them all by the same",
        weight_annotation, quotation(set.name), weights.size(), together, limits::topology_weight));
  }
  if (together == 0 && !weights.empty()) {
    return malformed(fmt::format(
        "annotation {} of StatefulSet {}: the weights of its {} replicas are all 0, so nobody owns "
        "anything; give one replica at least 1",
        weight_annotation, quotation(set.name), weights.size()));
  }
  return weights;
}

}  // namespace ringside::k8s
