#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/limits.h"
#include "geo/country_database.h"

namespace ringside::geo {
namespace {

static_assert(std::has_single_bit(limits::geo_memo_entries));

// Each /24 (IPv4) or /48 (IPv6) has two slots, this one and the next, since two busy neighbours in
// one slot would cost more walks than no memo.
std::size_t slot_of(const IpAddress& address) noexcept {
  const std::size_t start = address.is_v4() ? 9 : 0;  // 3 of the 4 last bytes, or the 6 first
  std::uint64_t block = 0;
  std::memcpy(&block, address.bytes().data() + start, 6);
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15ULL;  // Fibonacci hashing (Knuth 6.4)
  constexpr int pairs_bits = std::countr_zero(limits::geo_memo_entries) - 1;
  return static_cast<std::size_t>(block * odd >> (64 - pairs_bits)) * 2;
}

}  // namespace

CountryMemo::CountryMemo(std::shared_ptr<const CountryDatabase> database) {
  replace(std::move(database));
}

void CountryMemo::replace(std::shared_ptr<const CountryDatabase> database) {
  database_ = std::move(database);
  entries_.assign(database_ ? limits::geo_memo_entries : 0, Entry{});
}

Country CountryMemo::find(const IpAddress& address) {
  if (!database_) return Country{};
  const std::size_t slot = slot_of(address);
  Entry& newer = entries_[slot];
  if (newer.prefix.contains(address)) return newer.country;
  Entry& older = entries_[slot + 1];
  if (older.prefix.contains(address)) return older.country;
  older = newer;
  newer = answer_for(address);
  return newer.country;
}

CountryMemo::Entry CountryMemo::answer_for(const IpAddress& address) {
  for (const Network& network : special_networks()) {
    if (network.contains(address)) return {network, Country{}};
  }
  ++walks_;
  const CountryDatabase::Lookup answer = database_->find(address);
  return {Network::around(address, answer.prefix_bits), answer.country};
}

}  // namespace ringside::geo
