#include "geo/country_tree.h"

#include "base/check.h"

namespace ringside::geo {
namespace {

constexpr unsigned kAddressBits = 128;
constexpr std::array<std::uint8_t, 16> kMappedBase{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

unsigned bit_of(const std::array<std::uint8_t, 16>& bytes, unsigned index) noexcept {
  return bytes[index / 8] >> (7 - index % 8) & 1U;
}

}  // namespace

CountryTree::Branch CountryTree::join(Branch zero, Branch one) {
  if (zero == one && is_leaf(zero)) return zero;
  RINGSIDE_CHECK(nodes_.size() < kLeaf);
  nodes_.push_back({zero, one});
  return static_cast<Branch>(nodes_.size() - 1);
}

void CountryTree::graft(const Network& network, Branch branch) {
  root_ = grafted(root_, 0, network, branch);
}

// Copies the path from the root, since the nodes on it may be part of shared subtrees (MaxMind's
// files hang the IPv4 tree below 2002::/16 too).
CountryTree::Branch CountryTree::grafted(Branch on, unsigned bit, const Network& network,
                                         Branch branch) {
  if (bit == network.prefix_bits()) return branch;
  Node children = is_leaf(on) ? Node{on, on} : nodes_[on];
  Branch& child = children[bit_of(network.base().bytes(), bit)];
  child = grafted(child, bit + 1, network, branch);
  return join(children[0], children[1]);
}

CountryTree::Branch CountryTree::below_zeros(unsigned prefix_bits) const noexcept {
  Branch branch = root_;
  for (unsigned bit = 0; bit < prefix_bits && !is_leaf(branch); ++bit) branch = nodes_[branch][0];
  return branch;
}

void CountryTree::finish() {
  nodes_.shrink_to_fit();
  v4_root_ = root_;
  v4_root_bits_ = 0;
  while (v4_root_bits_ < kMappedBits && !is_leaf(v4_root_)) {
    v4_root_ = nodes_[v4_root_][bit_of(kMappedBase, v4_root_bits_++)];
  }
}

CountryTree::Answer CountryTree::find(const IpAddress& address) const noexcept {
  const bool is_v4 = address.is_v4();
  Branch branch = is_v4 ? v4_root_ : root_;
  unsigned bit = is_v4 ? v4_root_bits_ : 0;
  while (!is_leaf(branch)) {
    // A corrupt file may have hung a subtree deeper than addresses are long.
    if (bit == kAddressBits) return {Country{}, kAddressBits};
    branch = nodes_[branch][bit_of(address.bytes(), bit)];
    ++bit;
  }
  const std::array<char, 2> code{static_cast<char>(branch >> 8 & 0xff),
                                 static_cast<char>(branch & 0xff)};
  return {Country::from({code.data(), code.size()}), bit};
}

}  // namespace ringside::geo
