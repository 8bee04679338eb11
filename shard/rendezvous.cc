#include "shard/rendezvous.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "base/limits.h"
#include "shard/mix.h"

namespace ringside::shard {
namespace {

// ISO C++ has no such type, which `using` can't be told to overlook.
__extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using)

constexpr unsigned fraction_bits = 40;
static_assert(limits::member_weight < (1U << (64 - 7 - fraction_bits)),
              "a cost times a weight fits into 64 bits");

}  // namespace

std::uint64_t rendezvous_draw(std::uint64_t member_hash, Bucket bucket) noexcept {
  return mix64(member_hash ^ hash_of(bucket));
}

// Each squaring doubles the logarithm, so that its next binary digit comes before the point.
std::uint64_t rendezvous_cost(std::uint64_t draw) noexcept {
  if (draw == std::numeric_limits<std::uint64_t>::max()) return 0;
  const auto zeros = static_cast<unsigned>(std::countl_zero(draw + 1));
  std::uint64_t mantissa = (draw + 1) << zeros;  // from 1 to 2, in units of 2^-63
  std::uint64_t log = 63 - zeros;
  for (unsigned digit = 0; digit < fraction_bits; ++digit) {
    const Wide square = Wide{mantissa} * mantissa;
    const auto is_two = static_cast<unsigned>(square >> 127);
    log = log << 1 | is_two;
    mantissa = static_cast<std::uint64_t>(square >> (63 + is_two));
  }
  return (std::uint64_t{64} << fraction_bits) - log;
}

struct Rendezvous::Bid {
  std::uint64_t draw = 0;
  std::uint64_t cost = 0;  // of the draw; 0 where it does not matter
  std::uint32_t weight = 1;
  MemberIndex member = 0;

  // A total order. In a class it is that of the draws: the lower the draw, the higher the cost.
  friend bool operator<(const Bid& a, const Bid& b) noexcept {
    const std::uint64_t left = a.cost * b.weight;
    const std::uint64_t right = b.cost * a.weight;
    if (left != right) return left < right;
    return a.draw != b.draw ? a.draw > b.draw : a.member < b.member;
  }
};

Rendezvous::Rendezvous(std::span<const Member> members) {
  std::map<std::uint32_t, Class> by_weight;
  for (MemberIndex index = 0; index < members.size(); ++index) {
    const Member& member = members[index];
    if (member.weight == 0) continue;
    Class& equals = by_weight[member.weight];
    equals.weight = member.weight;
    equals.candidates.push_back({hash64(member.name), index});
  }
  for (auto& [weight, equals] : by_weight) classes_.push_back(std::move(equals));
}

// The loop that a topology of many members is made by: it compares draws and nothing else.
Rendezvous::Bid Rendezvous::best_of(const Class& equals, Bucket bucket) const noexcept {
  Bid best{rendezvous_draw(equals.candidates.front().hash, bucket), 0, equals.weight,
           equals.candidates.front().member};
  for (const Candidate& candidate : equals.candidates) {
    const std::uint64_t draw = rendezvous_draw(candidate.hash, bucket);
    if (draw <= best.draw) continue;
    best.draw = draw;
    best.member = candidate.member;
  }
  return best;
}

std::vector<MemberIndex> Rendezvous::bucket_owners() const {
  std::vector<MemberIndex> owners;
  if (classes_.empty()) return owners;
  owners.reserve(bucket_count);
  for (std::size_t i = 0; i < bucket_count; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    Bid best = best_of(classes_.front(), bucket);
    if (classes_.size() > 1) best.cost = rendezvous_cost(best.draw);
    for (std::size_t other = 1; other < classes_.size(); ++other) {
      Bid bid = best_of(classes_[other], bucket);
      bid.cost = rendezvous_cost(bid.draw);
      best = std::min(best, bid);
    }
    owners.push_back(best.member);
  }
  return owners;
}

void Rendezvous::owners(const ShardKey& key, std::size_t n,
                        std::vector<MemberIndex>& owners) const {
  owners.clear();
  const Bucket bucket = bucket_of(key.hash);
  std::vector<Bid> bids;
  for (const Class& equals : classes_) {
    for (const Candidate& candidate : equals.candidates) {
      const std::uint64_t draw = rendezvous_draw(candidate.hash, bucket);
      const std::uint64_t cost = classes_.size() > 1 ? rendezvous_cost(draw) : 0;
      bids.push_back({draw, cost, equals.weight, candidate.member});
    }
  }
  const auto wanted = bids.begin() + static_cast<std::ptrdiff_t>(std::min(n, bids.size()));
  std::partial_sort(bids.begin(), wanted, bids.end());
  for (auto bid = bids.begin(); bid != wanted; ++bid) owners.push_back(bid->member);
}

Result<std::shared_ptr<const Scheme>> make_rendezvous(std::span<const Member> members) {
  return std::shared_ptr<const Scheme>(std::make_shared<Rendezvous>(members));
}

}  // namespace ringside::shard
