#include "replay/scrape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ringside::replay {
namespace {

// A label's value from behind its opening quote; takes the closing one too.
bool take_quoted(std::string_view& rest, std::string& out) {
  out.clear();
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"') return true;
    if (c != '\\') {
      out += c;
      continue;
    }
    if (rest.empty()) return false;
    out += rest.front() == 'n' ? '\n' : rest.front();
    rest.remove_prefix(1);
  }
  return false;
}

}  // namespace

bool Scrape::parse_sample(std::string_view line, Sample& sample) {
  const std::size_t name_end = line.find_first_of("{ ");
  if (name_end == 0 || name_end == std::string_view::npos) return false;
  sample.name = line.substr(0, name_end);
  line.remove_prefix(name_end);
  if (line.starts_with('{')) {
    line.remove_prefix(1);
    while (!line.starts_with('}')) {
      const std::size_t equals = line.find("=\"");
      if (equals == std::string_view::npos) return false;
      const std::string_view label = line.substr(0, equals);
      line.remove_prefix(equals + 2);
      std::string value;
      if (!take_quoted(line, value)) return false;
      sample.labels.emplace(label, std::move(value));
      if (line.starts_with(',')) line.remove_prefix(1);
    }
    line.remove_prefix(1);
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view value = line.substr(0, line.find(' '));  // a timestamp may follow
  const std::string_view digits = value.starts_with('+') ? value.substr(1) : value;
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), sample.value);
  return failure == std::errc{} && end == digits.data() + digits.size();
}

Result<Scrape> Scrape::parse(std::string_view text) {
  Scrape scrape;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    if (!parse_sample(line, scrape.samples_.emplace_back())) {
      return Error{
          ErrorKind::malformed, ErrorSource::peer, Retry::no,
          fmt::format("/metrics, line {}: no sample of the Prometheus text format", number)};
    }
  }
  return scrape;
}

bool Scrape::matches(const Sample& sample, std::string_view name, const Labels& labels) {
  return sample.name == name && std::all_of(labels.begin(), labels.end(), [&](const auto& wanted) {
           const auto found = sample.labels.find(wanted.first);
           return found != sample.labels.end() && found->second == wanted.second;
         });
}

double Scrape::sum(std::string_view name, const Labels& labels) const {
  double total = 0;
  for (const Sample& sample : samples_) {
    if (matches(sample, name, labels)) total += sample.value;
  }
  return total;
}

bool Scrape::has(std::string_view name, const Labels& labels) const {
  return std::any_of(samples_.begin(), samples_.end(),
                     [&](const Sample& sample) { return matches(sample, name, labels); });
}

}  // namespace ringside::replay
