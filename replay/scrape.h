#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ringside::replay {

// The samples of a Prometheus text exposition (version 0.0.4), for looking figures up.
class Scrape {
 public:
  using Labels = std::map<std::string, std::string, std::less<>>;

  // The Error names the line that does not follow the format.
  [[nodiscard]] static Result<Scrape> parse(std::string_view text);
  // The sum over the family's samples that have all of `labels`; 0 where there are none.
  [[nodiscard]] double sum(std::string_view name, const Labels& labels = {}) const;
  [[nodiscard]] bool has(std::string_view name, const Labels& labels = {}) const;

 private:
  struct Sample {
    std::string name;
    Labels labels;
    double value = 0;
  };
  [[nodiscard]] static bool parse_sample(std::string_view line, Sample& sample);
  [[nodiscard]] static bool matches(const Sample& sample, std::string_view name,
                                    const Labels& labels);
  std::vector<Sample> samples_;
};

}  // namespace ringside::replay
