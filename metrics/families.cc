#include "metrics/families.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace ringside::metrics {
namespace {

prometheus::ClientMetric labelled(const Families::Labels& labels) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : labels) metric.label.push_back({name, value});
  return metric;
}

// Counts become cumulative, and the last bucket is +Inf. The total is what the buckets say, not a
// number counted beside them, so that the two always agree.
prometheus::ClientMetric::Histogram cumulative(const Families::Histogram& histogram) {
  prometheus::ClientMetric::Histogram out;
  out.sample_sum = histogram.sum;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    out.sample_count += histogram.counts[i];
    const double bound =
        i < histogram.bounds.size() ? histogram.bounds[i] : std::numeric_limits<double>::infinity();
    out.bucket.push_back({out.sample_count, bound});
  }
  return out;
}

}  // namespace

Families::Family& Families::family(std::string_view name, std::string_view help, Kind kind) {
  const auto found = std::find_if(families_.begin(), families_.end(),
                                  [&](const Family& family) { return family.name == name; });
  if (found == families_.end()) {
    return families_.emplace_back(Family{std::string(name), std::string(help), kind, {}, {}});
  }
  RINGSIDE_CHECK(found->kind == kind);
  return *found;
}

void Families::add(Kind kind, std::string_view name, std::string_view help, Labels labels,
                   double value) {
  double& stands = family(name, help, kind).values[std::move(labels)];
  stands = kind == Kind::counter ? stands + value : value;
}

void Families::add_histogram(std::string_view name, std::string_view help, Labels labels,
                             const Histogram& histogram) {
  RINGSIDE_CHECK(histogram.counts.size() == histogram.bounds.size() + 1);
  auto& histograms = family(name, help, Kind::histogram).histograms;
  const auto [place, is_new] = histograms.try_emplace(std::move(labels), histogram);
  if (is_new) return;
  Histogram& sum = place->second;
  RINGSIDE_CHECK(sum.bounds == histogram.bounds);
  for (std::size_t i = 0; i < sum.counts.size(); ++i) sum.counts[i] += histogram.counts[i];
  sum.sum += histogram.sum;
}

std::string Families::text() const {
  std::vector<prometheus::MetricFamily> out;
  for (const Family& family : families_) {
    auto& written = out.emplace_back();
    written.name = family.name;
    written.help = family.help;
    written.type = family.kind == Kind::counter ? prometheus::MetricType::Counter
                   : family.kind == Kind::gauge ? prometheus::MetricType::Gauge
                                                : prometheus::MetricType::Histogram;
    for (const auto& [labels, value] : family.values) {
      auto& metric = written.metric.emplace_back(labelled(labels));
      (family.kind == Kind::counter ? metric.counter.value : metric.gauge.value) = value;
    }
    for (const auto& [labels, histogram] : family.histograms) {
      written.metric.emplace_back(labelled(labels)).histogram = cumulative(histogram);
    }
  }
  return prometheus::TextSerializer().Serialize(out);
}

}  // namespace ringside::metrics
