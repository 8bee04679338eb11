// What it costs to hear of 1,000 pods at once: an EndpointSliceList of ten slices, as the API
// server answers it, made into a roster. And what of it is kept: the reflection and the roster.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/check.h"
#include "k8s/assembly.h"
#include "k8s/reflection.h"

namespace ringside::k8s {
namespace {

using nlohmann::json;

constexpr std::size_t slice_count = 10;
constexpr std::size_t pods_per_slice = 100;

json endpoint(std::size_t ordinal) {
  return {{"addresses", json::array({fmt::format("10.1.{}.{}", ordinal / 250, ordinal % 250)})},
          {"conditions", {{"ready", true}, {"serving", true}, {"terminating", false}}},
          {"hostname", fmt::format("cache-{}", ordinal)},
          {"nodeName", fmt::format("node-{}", ordinal % 50)},
          {"targetRef",
           {{"kind", "Pod"},
            {"namespace", "shop"},
            {"name", fmt::format("cache-{}", ordinal)},
            {"uid", "ec6762e8-02b4-458a-9bd8-a05d96e0020a"}}},
          {"zone", "zone-a"}};
}

json slice(std::size_t number) {
  json endpoints = json::array();
  for (std::size_t i = 0; i < pods_per_slice; ++i) {
    endpoints.push_back(endpoint(number * pods_per_slice + i));
  }
  return {{"metadata",
           {{"name", fmt::format("cache-{}", number)},
            {"namespace", "shop"},
            {"resourceVersion", "5"},
            {"labels", {{"kubernetes.io/service-name", "cache"}}},
            {"managedFields", json::array({{{"manager", "kube-controller-manager"}}})}}},
          {"addressType", "IPv4"},
          {"endpoints", std::move(endpoints)},
          {"ports", json::array({{{"name", "http"}, {"port", 8080}, {"protocol", "TCP"}}})}};
}

std::string list() {
  json items = json::array();
  for (std::size_t i = 0; i < slice_count; ++i) items.push_back(slice(i));
  return json{{"kind", "EndpointSliceList"},
              {"apiVersion", "discovery.k8s.io/v1"},
              {"metadata", {{"resourceVersion", "9"}}},
              {"items", std::move(items)}}
      .dump();
}

void relist(benchmark::State& state) {
  const std::string body = list();
  const StatefulSet set{"cache", "1", 1, slice_count * pods_per_slice, 0, "cache", ""};
  const std::size_t before = mallinfo2().uordblks;
  EndpointSliceReflection reflection;
  Outcome<Assembled> assembled = Assembled{};
  for (auto _ : state) {
    RINGSIDE_CHECK(reflection.listed(body));
    assembled = assemble(set, reflection.values(), {"shop", "cache", ""});
    RINGSIDE_CHECK(assembled && assembled->doubt.empty());
  }
  RINGSIDE_CHECK(assembled->roster.replicas.back().ready);
  state.counters["answer_bytes"] = static_cast<double>(body.size());
  state.counters["kept_bytes"] = static_cast<double>(mallinfo2().uordblks - before);
}
BENCHMARK(relist)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ringside::k8s

BENCHMARK_MAIN();
