#include "tier/holdings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "base/limits.h"

namespace ringside::tier {

using shard::Bucket;

namespace {

// Takes the digits before the next space, behind which something follows, or the end, off `text`.
template <class Number>
std::optional<Number> take_number(std::string_view& text) noexcept {
  const std::string_view digits = text.substr(0, text.find(' '));
  if (digits.size() + 1 == text.size()) return std::nullopt;
  text.remove_prefix(std::min(text.size(), digits.size() + 1));
  Number number = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  const bool is_number = parsed.ec == std::errc{} && parsed.ptr == end;
  return is_number ? std::optional(number) : std::nullopt;
}

Error no_line(std::size_t number) {
  return {ErrorKind::malformed, ErrorSource::peer, Retry::no,
          fmt::format("holdings: line {} is none", number)};
}

constexpr std::string_view draining = "draining";
constexpr std::string_view leaver = "leaver ";
constexpr std::string_view numbers = "numbers ";

std::optional<Numbers> read_numbers(std::string_view line) {
  if (!line.starts_with(numbers)) return std::nullopt;
  line.remove_prefix(numbers.size());
  const auto meaning = take_number<std::uint64_t>(line);
  const auto buckets = take_number<std::size_t>(line);
  const bool is_one = meaning && buckets && line.empty() && *buckets <= shard::bucket_count;
  return is_one ? std::optional(Numbers{*meaning, *buckets}) : std::nullopt;
}

std::optional<Peer> read_leaver(std::string_view line) {
  if (!line.starts_with(leaver)) return std::nullopt;
  line.remove_prefix(leaver.size());
  const std::size_t space = line.find(' ');
  if (space == 0 || space == std::string_view::npos) return std::nullopt;
  const auto address = Endpoint::parse(line.substr(space + 1));
  if (!address || address->port == 0 || !shard::check_member_name(line.substr(0, space)))
    return std::nullopt;
  return Peer{std::string(line.substr(0, space)), *address};
}

// Those of the line, from `next` on, which moves on behind them.
bool read_run(std::string_view line, std::size_t& next, Holdings& holdings) {
  const auto first = take_number<std::size_t>(line);
  const auto last = take_number<std::size_t>(line);
  const auto epoch = take_number<Epoch>(line);
  if (!first || !last || !epoch || !line.empty()) return false;
  const bool is_bucket = *last < shard::bucket_count;
  if (*first < next || *first > *last || !is_bucket || *epoch > limits::epoch_most) return false;
  const auto from = static_cast<std::ptrdiff_t>(*first);
  const auto count = static_cast<std::ptrdiff_t>(*last - *first + 1);
  if (*epoch > 0) {
    holdings.epochs.resize(shard::bucket_count);
    std::fill_n(holdings.epochs.begin() + from, count, *epoch);
  } else {
    holdings.copies.resize(shard::bucket_count);
    std::fill_n(holdings.copies.begin() + from, count, true);
  }
  next = *last + 1;
  return true;
}

// Behind the last bucket that is held as the first one is.
std::size_t end_of_run(const Holdings& holdings, std::size_t first) {
  const Epoch epoch = holdings.epoch(static_cast<Bucket>(first));
  const bool has_copies = holdings.has_copies(static_cast<Bucket>(first));
  std::size_t end = first + 1;
  for (; end < shard::bucket_count; ++end) {
    const auto bucket = static_cast<Bucket>(end);
    if (holdings.epoch(bucket) != epoch) break;
    if (epoch == 0 && holdings.has_copies(bucket) != has_copies) break;
  }
  return end;
}

// Without reading a format: there are thousands of runs while buckets move.
void append(std::string& text, std::uint64_t number, char behind) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size()).push_back(behind);
}

}  // namespace

std::string to_text(const HoldingsVersion& version) {
  return fmt::format("{:020} {}", version.incarnation, version.number);
}

Result<HoldingsVersion> parse_holdings_version(std::string_view text) {
  const auto incarnation = take_number<Incarnation>(text);
  const auto number = take_number<std::uint64_t>(text);
  if (!incarnation || !number || !text.empty()) return no_line(1);
  return HoldingsVersion{*incarnation, *number};
}

std::string to_text(const Holdings& holdings) {
  std::string text = to_text(holdings.version) + "\n";
  if (holdings.numbers != Numbers{}) {
    fmt::format_to(std::back_inserter(text), "{}{} {}\n", numbers, holdings.numbers.meaning,
                   holdings.numbers.buckets);
  }
  if (holdings.is_draining) text.append(draining).append("\n");
  for (const Peer& one : holdings.leavers) {
    text.append(leaver).append(one.name).append(" ").append(one.address.text()).append("\n");
  }
  for (std::size_t first = 0; first < shard::bucket_count;) {
    const std::size_t end = end_of_run(holdings, first);
    const auto bucket = static_cast<Bucket>(first);
    if (holdings.has(bucket)) {
      append(text, first, ' ');
      append(text, end - 1, ' ');
      append(text, holdings.epoch(bucket), '\n');
    }
    first = end;
  }
  return text;
}

Result<Holdings> parse_holdings(std::string_view text) {
  Holdings holdings;
  std::size_t next = 0;
  for (std::size_t number = 1; !text.empty() || number == 1; ++number) {
    const std::size_t size = text.find('\n');
    if (size == std::string_view::npos) return no_line(number);
    const std::string_view line = text.substr(0, size);
    text.remove_prefix(size + 1);
    if (number == 1) {
      const auto version = parse_holdings_version(line);
      if (!version || version->incarnation == 0) return no_line(number);
      holdings.version = *version;
      continue;
    }
    if (const auto told = number == 2 ? read_numbers(line) : std::nullopt) {
      holdings.numbers = *told;
      continue;
    }
    if (next == 0 && holdings.leavers.empty() && !holdings.is_draining && line == draining) {
      holdings.is_draining = true;
      continue;
    }
    if (const auto one = next == 0 ? read_leaver(line) : std::nullopt) {
      if (holdings.leavers.size() == limits::members) return no_line(number);
      holdings.leavers.push_back(*one);
      continue;
    }
    if (!read_run(line, next, holdings)) return no_line(number);
  }
  return holdings;
}

}  // namespace ringside::tier
