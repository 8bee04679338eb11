#include "geo/country_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "geo/database_file.h"

namespace ringside::geo {
namespace {

// Copies the search tree of a file, node by node and each once, with countries for data.
class TreeCopy {
 public:
  TreeCopy(const DatabaseFile& file, CountryTree& tree)
      : file_(file), tree_(tree), copied_(file.node_count(), kNotYet) {}

  // The copy of a record's branch, `bits_left` above the deepest leaf that there can be; nullopt
  // where the file is corrupt.
  std::optional<CountryTree::Branch> branch(std::uint32_t record, unsigned bits_left) {
    if (record == file_.node_count()) return CountryTree::leaf(Country{});
    if (record > file_.node_count()) return leaf(record);
    if (copied_[record] != kNotYet) return copied_[record];
    if (bits_left == 0) return std::nullopt;  // a loop
    const auto children = file_.children(record);
    const auto zero = branch(children[0], bits_left - 1);
    if (!zero) return std::nullopt;
    const auto one = branch(children[1], bits_left - 1);
    if (!one) return std::nullopt;
    return copied_[record] = tree_.join(*zero, *one);
  }

  [[nodiscard]] bool has_countries() const noexcept { return has_countries_; }

 private:
  static constexpr CountryTree::Branch kNotYet = 0xffff'ffffU;  // no leaf, and beyond all nodes

  // Files have few distinct data records, many times referred to.
  std::optional<CountryTree::Branch> leaf(std::uint32_t record) {
    const auto known = leaves_.find(record);
    if (known != leaves_.end()) return known->second;
    const auto field = file_.country_field(record);
    if (!field) return std::nullopt;
    has_countries_ = has_countries_ || field->present;
    return leaves_[record] = CountryTree::leaf(field->country);
  }

  const DatabaseFile& file_;
  CountryTree& tree_;
  std::vector<CountryTree::Branch> copied_;
  std::unordered_map<std::uint32_t, CountryTree::Branch> leaves_;
  bool has_countries_ = false;
};

std::string describe(const DatabaseFile& file) {
  using std::chrono::year_month_day;
  constexpr std::uint64_t last_second = 253'402'300'799;  // of the year 9999
  const std::uint64_t epoch = std::min(file.build_epoch(), last_second);
  const year_month_day date{std::chrono::floor<std::chrono::days>(
      std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(epoch))))};
  return fmt::format("{} of {:04}-{:02}-{:02}, {}", file.type(), static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     file.is_v4_only() ? "IPv4 only" : "IPv4 and IPv6");
}

// A file's IPv4 tree is the whole one, or hangs at ::/96. Ours hangs where IpAddress holds IPv4,
// and special addresses are cut out of what the file says, so that each prefix has one answer.
void arrange(CountryTree& tree, CountryTree::Branch copied, bool v4_only) {
  tree.plant(copied);
  const CountryTree::Branch v4 = tree.below_zeros(v4_only ? 0 : kMappedBits);
  if (v4_only) tree.plant(CountryTree::leaf(Country{}));
  constexpr std::array<std::uint8_t, 16> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  tree.graft(Network::around(IpAddress(mapped), kMappedBits), v4);
  for (const Network& network : special_networks()) {
    tree.graft(network, CountryTree::leaf(Country{}));
  }
  tree.finish();
}

}  // namespace

CountryDatabase::CountryDatabase(std::string path, std::string description, CountryTree tree)
    : path_(std::move(path)), description_(std::move(description)), tree_(std::move(tree)) {}

Result<std::shared_ptr<const CountryDatabase>> CountryDatabase::open(const std::string& path) {
  auto opened = DatabaseFile::open(path);
  if (!opened) return opened.error();
  const DatabaseFile& file = **opened;
  CountryTree tree;
  tree.reserve(file.node_count());
  TreeCopy copy(file, tree);
  const auto root = copy.branch(0, file.is_v4_only() ? 32 : 128);
  if (!root) {
    return bad_database(path, "file is corrupt (its search tree points to where nothing sound is)");
  }
  if (!copy.has_countries()) {
    return bad_database(path,
                        fmt::format("no record of it has a country.iso_code or country_code (its "
                                    "type is \"{}\")",
                                    file.type()),
                        "give a country database");
  }
  arrange(tree, *root, file.is_v4_only());
  return std::shared_ptr<const CountryDatabase>(
      new CountryDatabase(path, describe(file), std::move(tree)));
}

CountryDatabase::Lookup CountryDatabase::find(const IpAddress& address) const noexcept {
  const CountryTree::Answer answer = tree_.find(address);
  return {answer.country, answer.prefix_bits};
}

}  // namespace ringside::geo
