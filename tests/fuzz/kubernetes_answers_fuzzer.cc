// What an API server answers. The first byte says what the rest is: a list or an event of one of
// the reflections, a stream of events, an answer that is a refusal, a group's document, weights.
#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "k8s/api_answer.h"
#include "k8s/assembly.h"
#include "k8s/event_lines.h"
#include "k8s/reflection.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view known_set =
    R"({"kind":"StatefulSetList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{)"
    R"("name":"cache","resourceVersion":"8","generation":3},)"
    R"("spec":{"replicas":2,"serviceName":"cache"}}]})";
constexpr std::string_view known_slices =
    R"({"kind":"EndpointSliceList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{)"
    R"("name":"s","resourceVersion":"8"},"addressType":"IPv4","ports":[{"name":"http","port":80}],)"
    R"("endpoints":[{"addresses":["10.0.0.1"],"targetRef":{"kind":"Pod","name":"cache-0"}}]}]})";

void check_failure(const k8s::Failure& failure) {
  check_message(invalid_input(failure.message));
  RINGSIDE_CHECK(failure.message.size() < 2048);
  if (failure.retry_after) {
    RINGSIDE_CHECK(*failure.retry_after >= Milliseconds(0) &&
                   *failure.retry_after <= limits::api_retry_after_most);
  }
}

void check_set(const k8s::StatefulSet& set) {
  RINGSIDE_CHECK(set.replicas <= limits::members && !set.service.empty());
  const auto weights = k8s::weights_of(set);
  if (!weights) return check_failure(weights.error());
  RINGSIDE_CHECK(weights->size() == set.replicas);
  for (const auto weight : *weights) RINGSIDE_CHECK(weight <= limits::member_weight);
}

// Whatever is known makes a roster, with a place for each replica that is told to be ready.
void check_roster(const k8s::StatefulSet& set, const k8s::EndpointSliceReflection& slices) {
  const auto assembled = k8s::assemble(set, slices.values(), {"shop", set.name, ""});
  if (!assembled) return check_failure(assembled.error());
  RINGSIDE_CHECK(assembled->roster.replicas.size() == set.replicas);
  for (const k8s::Replica& replica : assembled->roster.replicas) {
    const bool is_somewhere = !replica.address.host.empty();
    RINGSIDE_CHECK(is_somewhere == (replica.address.port != 0));
    RINGSIDE_CHECK(is_somewhere || (!replica.ready && !replica.serving));
    RINGSIDE_CHECK(!replica.ready || (replica.serving && !replica.terminating));
    if (is_somewhere) RINGSIDE_CHECK(IpAddress::parse(replica.address.host));
    RINGSIDE_CHECK(replica.zone.size() <= limits::member_zone_size_bytes);
  }
  if (!assembled->doubt.empty()) check_message(invalid_input(assembled->doubt));
}

void check_slices(const k8s::EndpointSliceReflection& slices) {
  RINGSIDE_CHECK(slices.values().size() <= limits::endpoint_slices);
  for (const auto& [name, slice] : slices.values()) {
    RINGSIDE_CHECK(name == slice.name && !name.empty() && !slice.resource_version.empty());
    for (const k8s::NamedPort& port : slice.ports) RINGSIDE_CHECK(port.number != 0);
    for (const k8s::PodEndpoint& endpoint : slice.endpoints) RINGSIDE_CHECK(!endpoint.pod.empty());
  }
}

// What one input does to a reflection that knows something: a failure changes nothing.
template <class Reflection, class Values>
void tell(Reflection& reflection, bool is_list, std::string_view input, const Values& values) {
  const auto before = values(reflection);
  const std::string version = reflection.resource_version();
  if (is_list) {
    const auto listed = reflection.listed(input);
    if (listed) {
      RINGSIDE_CHECK(!reflection.resource_version().empty());
      return;
    }
    check_failure(listed.error());
  } else {
    const auto changed = reflection.event(input);
    if (changed) {
      if (!*changed && values(reflection) == before) return;
      RINGSIDE_CHECK(!reflection.resource_version().empty());
      const auto again = reflection.event(input);  // twice is once
      RINGSIDE_CHECK(again && !*again);
      return;
    }
    check_failure(changed.error());
  }
  RINGSIDE_CHECK(values(reflection) == before && reflection.resource_version() == version);
}

struct World {
  k8s::StatefulSetReflection set{"cache"};
  k8s::EndpointSliceReflection slices;

  World() {
    RINGSIDE_CHECK(set.listed(known_set));
    RINGSIDE_CHECK(slices.listed(known_slices));
  }
  void tell_set(bool is_list, std::string_view input) {
    tell(set, is_list, input, [](const auto& reflection) { return reflection.value(); });
  }
  void tell_slices(bool is_list, std::string_view input) {
    tell(slices, is_list, input, [](const auto& reflection) { return reflection.values(); });
  }
  void check() const {
    check_set(set.value().value());
    check_slices(slices);
    check_roster(set.value().value(), slices);
  }
};

// Lines are the same however they come, and all of them are told to both.
void stream(World& world, std::string_view input) {
  const std::string_view sizes = take(input, 2);
  std::vector<std::string> whole;
  std::vector<std::string> cut;
  const auto into = [](std::vector<std::string>& lines) {
    return [&lines](std::string_view line) -> k8s::Outcome<void> {
      RINGSIDE_CHECK(!line.empty());
      lines.emplace_back(line);
      return {};
    };
  };
  k8s::EventLines at_once;
  RINGSIDE_CHECK(at_once.add(input, into(whole)));
  k8s::EventLines in_pieces;
  Cuts cuts(sizes);
  for (std::string_view rest = input; !rest.empty();) {
    RINGSIDE_CHECK(in_pieces.add(cuts.next(rest), into(cut)));
  }
  RINGSIDE_CHECK(whole == cut);
  RINGSIDE_CHECK(at_once.has_unfinished() == in_pieces.has_unfinished());
  RINGSIDE_CHECK(at_once.has_unfinished() == (!input.empty() && !input.ends_with('\n')));
  for (const std::string& line : whole) {
    world.tell_set(false, line);
    world.tell_slices(false, line);
  }
}

void refuse(std::string_view input) {
  constexpr int statuses[] = {200, 302, 400, 401, 403, 404, 410, 429, 500, 503, 504};
  const std::string_view choice = take(input, 1);
  const auto index = choice.empty() ? 0U : static_cast<unsigned char>(choice[0]);
  const std::string_view retry_after = take(input, input.find('\n'));
  take(input, 1);
  check_failure(k8s::failure_of(statuses[index % std::size(statuses)], retry_after, input,
                                {"list", "statefulsets.apps", "shop"}, "a file"));
}

void weigh(std::string_view input) {
  k8s::StatefulSet set;
  set.name = "cache";
  set.service = "cache";
  set.replicas = 3;
  set.weight = input;
  check_set(set);
}

}  // namespace

void examine(std::string_view input) {
  const std::string_view kind = take(input, 1);
  if (kind.empty()) return;
  static const World known;
  World world = known;
  switch (kind[0]) {
    case 'S':
    case 's':
      world.tell_set(kind == "S"sv, input);
      break;
    case 'E':
    case 'e':
      world.tell_slices(kind == "E"sv, input);
      break;
    case 'l':
      stream(world, input);
      break;
    case 'r':
      return refuse(input);
    case 'w':
      return weigh(input);
    case 'g':
      if (const auto version = k8s::endpoint_slice_version(input); !version) {
        check_failure(version.error());
      } else {
        RINGSIDE_CHECK(*version == "v1" || *version == "v1beta1");
      }
      return;
    default:
      return;
  }
  world.check();
}

}  // namespace ringside::fuzz
