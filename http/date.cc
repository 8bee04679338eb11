#include "http/date.h"

#include <cstddef>
#include <cstdint>

#include "http/characters.h"
#include "http/fields.h"

namespace ringside::http {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

constexpr std::string_view kWeekdays = "SunMonTueWedThuFriSat";
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::array<std::string_view, 7> kLongWeekdays{
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

// What a date says, before it is known to exist.
struct Parts {
  int year = 0;
  int month = 0;  // 1 to 12
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

// Reads a date from left to right; once something does not fit, ok() stays false. Letters are
// compared without regard to case, as caches should (RFC 9111 §4.2).
class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : rest_(text) {}

  void literal(std::string_view wanted) noexcept {
    const std::string_view found = rest_.substr(0, wanted.size());
    accept(same_token(found, wanted), wanted.size());
  }

  int number(std::size_t digits) noexcept {
    if (rest_.size() < digits) return refuse();
    int value = 0;
    for (const char c : rest_.substr(0, digits)) {
      if (!is_in(c, kDigitClass)) return refuse();
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }

  // The index of one of the three-letter names.
  int name_of(std::string_view names) noexcept {
    for (std::size_t at = 0; at < names.size(); at += 3) {
      if (!same_token(rest_.substr(0, 3), names.substr(at, 3))) continue;
      rest_.remove_prefix(3);
      return static_cast<int>(at / 3);
    }
    return refuse();
  }

  void time(Parts& parts) noexcept {
    parts.hour = number(2);
    literal(":");
    parts.minute = number(2);
    literal(":");
    parts.second = number(2);
  }

  // asctime's day of the month, which has a space for its first digit below 10.
  int padded_day() noexcept {
    if (!rest_.starts_with(' ')) return number(2);
    rest_.remove_prefix(1);
    return number(1);
  }

  [[nodiscard]] bool ok() const noexcept { return ok_ && rest_.empty(); }

 private:
  void accept(bool fits, std::size_t size) noexcept {
    ok_ = ok_ && fits;
    rest_.remove_prefix(fits ? size : rest_.size());
  }
  int refuse() noexcept {
    accept(false, 0);
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

// Sun, 06 Nov 1994 08:49:37 GMT
std::optional<Parts> read_fixdate(std::string_view text) noexcept {
  Reader reader(text);
  Parts parts;
  reader.name_of(kWeekdays);
  reader.literal(", ");
  parts.day = reader.number(2);
  reader.literal(" ");
  parts.month = reader.name_of(kMonths) + 1;
  reader.literal(" ");
  parts.year = reader.number(4);
  reader.literal(" ");
  reader.time(parts);
  reader.literal(" GMT");
  return reader.ok() ? std::optional(parts) : std::nullopt;
}

// 06-Nov-94 08:49:37 GMT, what is left of an RFC 850 date after its weekday. The year has two
// digits.
std::optional<Parts> read_rfc850(std::string_view text) noexcept {
  Reader reader(text);
  Parts parts;
  parts.day = reader.number(2);
  reader.literal("-");
  parts.month = reader.name_of(kMonths) + 1;
  reader.literal("-");
  parts.year = reader.number(2);
  reader.literal(" ");
  reader.time(parts);
  reader.literal(" GMT");
  return reader.ok() ? std::optional(parts) : std::nullopt;
}

// Sun Nov  6 08:49:37 1994
std::optional<Parts> read_asctime(std::string_view text) noexcept {
  Reader reader(text);
  Parts parts;
  reader.name_of(kWeekdays);
  reader.literal(" ");
  parts.month = reader.name_of(kMonths) + 1;
  reader.literal(" ");
  parts.day = reader.padded_day();
  reader.literal(" ");
  reader.time(parts);
  reader.literal(" ");
  parts.year = reader.number(4);
  return reader.ok() ? std::optional(parts) : std::nullopt;
}

// nullopt for a day or a time that does not exist. Second 60 is a leap second and counts as the
// next minute's first.
std::optional<TimePoint> time_of(const Parts& parts) noexcept {
  const std::chrono::year_month_day date{std::chrono::year(parts.year),
                                         std::chrono::month(static_cast<unsigned>(parts.month)),
                                         std::chrono::day(static_cast<unsigned>(parts.day))};
  if (!date.ok() || parts.hour > 23 || parts.minute > 59 || parts.second > 60) return std::nullopt;
  const TimePoint time = TimePoint(sys_days(date)) + std::chrono::hours(parts.hour) +
                         std::chrono::minutes(parts.minute) + Seconds(parts.second);
  // After the leap second of the last year that four digits can say.
  constexpr sys_days year_10000{std::chrono::year(10000) / 1 / 1};
  return time < year_10000 ? std::optional(time) : std::nullopt;
}

// The year of this century, unless that were more than 50 years ahead (RFC 9110 §5.6.7) or, near
// the end of a century, more than 50 years back.
std::optional<TimePoint> time_of_rfc850(Parts parts, TimePoint now) noexcept {
  const std::chrono::year_month_day today(std::chrono::floor<days>(now));
  const int this_year = static_cast<int>(today.year());
  parts.year += this_year - this_year % 100;
  if (parts.year > this_year + 50) parts.year -= 100;
  if (parts.year < this_year - 50) parts.year += 100;
  if (parts.year == this_year + 50) {
    // In the year of the limit itself, its day and time decide.
    Parts limit = parts;
    limit.year = this_year;
    const auto same_time_now = time_of(limit);
    if (!same_time_now || *same_time_now > now) parts.year -= 100;
  }
  return time_of(parts);
}

void put(char* at, int value, int digits) noexcept {
  for (int i = digits - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

}  // namespace

std::optional<TimePoint> parse_date(std::string_view text, TimePoint now) noexcept {
  const std::size_t comma = text.find(',');
  if (comma == text.npos) {
    const auto parts = read_asctime(text);
    return parts ? time_of(*parts) : std::nullopt;
  }
  if (comma == 3) {
    const auto parts = read_fixdate(text);
    return parts ? time_of(*parts) : std::nullopt;
  }
  for (const std::string_view weekday : kLongWeekdays) {
    if (!same_token(text.substr(0, comma), weekday)) continue;
    if (!text.substr(comma + 1).starts_with(' ')) return std::nullopt;
    const auto parts = read_rfc850(text.substr(comma + 2));
    return parts ? time_of_rfc850(*parts, now) : std::nullopt;
  }
  return std::nullopt;
}

std::array<char, 29> format_date(TimePoint time) noexcept {
  const auto second = std::chrono::floor<Seconds>(time);
  const auto day = std::chrono::floor<days>(second);
  const std::chrono::year_month_day date(day);
  const auto since_midnight = static_cast<int>((second - day).count());
  std::array<char, 29> out{};
  std::string_view("Sun, 06 Nov 1994 08:49:37 GMT").copy(out.data(), out.size());
  kWeekdays.copy(out.data(), 3, std::chrono::weekday(day).c_encoding() * 3);
  put(&out[5], static_cast<int>(static_cast<unsigned>(date.day())), 2);
  kMonths.copy(&out[8], 3, (static_cast<unsigned>(date.month()) - 1) * 3);
  put(&out[12], static_cast<int>(date.year()), 4);
  put(&out[17], since_midnight / 3600, 2);
  put(&out[20], since_midnight / 60 % 60, 2);
  put(&out[23], since_midnight % 60, 2);
  return out;
}

}  // namespace ringside::http
