#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/address.h"
#include "geo/country.h"

namespace ringside::geo {

inline constexpr unsigned kMappedBits = 96;  // ::ffff:0:0/96

// A binary tree over the bits of 128-bit addresses with a country at every leaf: each address has
// an answer. Built bottom-up; subtrees may be shared, and equal sibling leaves become one.
class CountryTree {
 public:
  // A leaf or a node of this tree.
  using Branch = std::uint32_t;
  [[nodiscard]] static constexpr Branch leaf(Country country) noexcept {
    const std::string_view code = country.code();
    return kLeaf | static_cast<Branch>(static_cast<unsigned char>(code[0]) << 8) |
           static_cast<unsigned char>(code[1]);
  }
  // Makes room for the nodes of a file, and for the few hundred that grafts add.
  void reserve(std::size_t nodes) { nodes_.reserve(nodes + 8192); }
  // The branch whose first bit chooses between two.
  [[nodiscard]] Branch join(Branch zero, Branch one);
  // Makes `root` the whole tree.
  void plant(Branch root) noexcept { root_ = root; }
  // Gives the addresses of the network to `branch`, whose first bit is the first behind the prefix.
  // Subtrees that others share are left as they are.
  void graft(const Network& network, Branch branch);
  // The branch below `prefix_bits` zero bits, or the leaf that is met on the way there.
  [[nodiscard]] Branch below_zeros(unsigned prefix_bits) const noexcept;
  // To be called last: remembers where IPv4 starts and gives unused memory back.
  void finish();

  struct Answer {
    Country country;
    unsigned prefix_bits;
  };
  [[nodiscard]] Answer find(const IpAddress& address) const noexcept;
  [[nodiscard]] std::size_t size_bytes() const noexcept { return nodes_.capacity() * sizeof(Node); }

 private:
  using Node = std::array<Branch, 2>;
  static constexpr Branch kLeaf = 0x8000'0000U;  // the letters are in the two lowest bytes
  static constexpr bool is_leaf(Branch branch) noexcept { return (branch & kLeaf) != 0; }
  [[nodiscard]] Branch grafted(Branch on, unsigned bit, const Network& network, Branch branch);

  std::vector<Node> nodes_;
  Branch root_ = leaf(Country{});
  Branch v4_root_ = leaf(Country{});
  unsigned v4_root_bits_ = 0;
};

}  // namespace ringside::geo
