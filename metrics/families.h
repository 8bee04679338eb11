#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/labels.h"

namespace ringside::metrics {

// Gathers series until they are written as text: each family stands once, in the order in which
// families were first named, whatever order their series came in.
class Families {
 public:
  using Labels = LabelValues;
  struct Histogram {
    std::vector<double> bounds;
    std::vector<std::uint64_t> counts;  // one more than bounds; each its own, not cumulative
    double sum = 0;
  };

  // Counts are added to the series of those labels; of a gauge the last value stands. A family
  // keeps its kind, a histogram its bounds.
  void add(Kind kind, std::string_view name, std::string_view help, Labels labels, double value);
  void add_histogram(std::string_view name, std::string_view help, Labels labels,
                     const Histogram& histogram);

  // The Prometheus text exposition, version 0.0.4.
  [[nodiscard]] std::string text() const;

 private:
  struct Family {
    std::string name;
    std::string help;
    Kind kind = Kind::counter;
    std::map<Labels, double> values;
    std::map<Labels, Histogram> histograms;
  };
  Family& family(std::string_view name, std::string_view help, Kind kind);

  std::vector<Family> families_;
};

}  // namespace ringside::metrics
