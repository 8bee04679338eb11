#include "tests/support/mmdb_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "base/address.h"
#include "base/check.h"

namespace ringside::support {
namespace {

constexpr std::string_view kMarker = "\xab\xcd\xefMaxMind.com";
constexpr std::size_t kSeparatorBytes = 16;
constexpr unsigned kMappedBits = 96;

void append_number(std::string& out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = bytes; i-- > 0;) out += static_cast<char>(value >> (8 * i) & 0xff);
}

// The encoding of https://maxmind.github.io/MaxMind-DB/ ("Data Field Format"); sizes below 285.
void append_control(std::string& out, unsigned type, std::size_t size) {
  RINGSIDE_CHECK(size < 285);
  const auto low = static_cast<unsigned>(std::min<std::size_t>(size, 29));
  out += static_cast<char>((type <= 7 ? type << 5 : 0U) | low);
  if (type > 7) out += static_cast<char>(type - 7);
  if (low == 29) out += static_cast<char>(size - 29);
}
void append_string(std::string& out, std::string_view text) {
  append_control(out, 2, text.size());
  out += text;
}
void append_unsigned(std::string& out, unsigned type, unsigned bytes, std::uint64_t value) {
  append_control(out, type, bytes);
  append_number(out, value, bytes);
}
void append_map(std::string& out, std::size_t members) { append_control(out, 7, members); }
void append_pointer(std::string& out, std::size_t target) {
  RINGSIDE_CHECK(target < 2048 + 524288);
  if (target < 2048) {
    append_number(out, 0x2000 | target, 2);
  } else {
    append_number(out, 0x280000 | (target - 2048), 3);
  }
}

class DataSection {
 public:
  explicit DataSection(const MmdbOptions& options) : options_(options) {}

  // The offset of the record for that country.
  std::size_t record(const std::string& code) {
    const auto known = records_.find(code);
    if (known != records_.end()) return known->second;
    // What is pointed to stands before: a key, and the whole country, which registered_country
    // shares as it does in MaxMind's files.
    if (options_.schema == MmdbSchema::nested && !key_) {
      key_ = bytes_.size();
      append_string(bytes_, "iso_code");
    }
    const std::size_t country = bytes_.size();
    if (options_.schema == MmdbSchema::nested) {
      append_map(bytes_, 2);
      append_string(bytes_, "geoname_id");
      append_unsigned(bytes_, 6, 4, 2635167);
      append_pointer(bytes_, *key_);
      append_string(bytes_, code);
    }
    const std::size_t offset = records_[code] = bytes_.size();
    append_record(code, country);
    return offset;
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  void append_record(const std::string& code, std::size_t country) {
    if (!options_.record.empty()) {
      bytes_ += options_.record;
      return;
    }
    switch (options_.schema) {
      case MmdbSchema::nested:
        append_map(bytes_, 3);
        append_string(bytes_, "continent");
        append_map(bytes_, 1);
        append_string(bytes_, "code");
        append_string(bytes_, "QQ");
        append_string(bytes_, "registered_country");
        append_pointer(bytes_, country);
        append_string(bytes_, "country");
        append_pointer(bytes_, country);
        return;
      case MmdbSchema::flat:
        append_map(bytes_, 1);
        append_string(bytes_, "country_code");
        append_string(bytes_, code);
        return;
      case MmdbSchema::no_code:
        append_map(bytes_, 1);
        append_string(bytes_, "autonomous_system_number");
        append_unsigned(bytes_, 6, 4, 64496);
        return;
    }
  }

  const MmdbOptions& options_;
  std::string bytes_;
  std::optional<std::size_t> key_;
  std::map<std::string, std::size_t> records_;
};

// A record of the search tree: a node, a data offset, or neither.
struct Record {
  enum class Kind { empty, node, data } kind = Kind::empty;
  std::size_t value = 0;
};

class SearchTree {
 public:
  explicit SearchTree(unsigned ip_version) : v4_only_(ip_version == 4) {}

  // Shorter prefixes must come first. IPv4 lies at ::/96 or is the whole tree.
  void insert(const Network& network, Record record) {
    auto bytes = network.base().bytes();
    if (network.base().is_v4()) bytes[10] = bytes[11] = 0;
    RINGSIDE_CHECK(!v4_only_ || network.base().is_v4());
    at(bytes, v4_only_ ? kMappedBits : 0, network.prefix_bits()) = record;
  }
  // Makes what lies at ::/96 be found under another prefix as well.
  void alias(const char* network) {
    const Network place = Network::parse(network).value();
    const Record v4 = at({}, 0, kMappedBits);
    at(place.base().bytes(), 0, place.prefix_bits()) = v4;
  }
  [[nodiscard]] const std::vector<std::array<Record, 2>>& nodes() const noexcept { return nodes_; }

 private:
  // The record for the prefix, with nodes made on the way to it.
  Record& at(const std::array<std::uint8_t, 16>& bytes, unsigned from_bit, unsigned to_bit) {
    std::size_t node = 0;
    for (unsigned bit = from_bit;; ++bit) {
      const std::size_t side = bytes[bit / 8] >> (7 - bit % 8) & 1;
      if (bit + 1 == to_bit) return nodes_[node][side];
      const Record old = nodes_[node][side];
      if (old.kind != Record::Kind::node) {
        nodes_.push_back({old, old});
        nodes_[node][side] = {Record::Kind::node, nodes_.size() - 1};
      }
      node = nodes_[node][side].value;
    }
  }

  bool v4_only_;
  std::vector<std::array<Record, 2>> nodes_{1};
};

std::uint64_t encoded(const Record& record, std::size_t node_count) {
  if (record.kind == Record::Kind::node) return record.value;
  if (record.kind == Record::Kind::empty) return node_count;
  return node_count + kSeparatorBytes + record.value;
}

void append_node(std::string& out, std::uint64_t left, std::uint64_t right, unsigned record_bits) {
  if (record_bits != 28) {
    append_number(out, left, record_bits / 8);
    append_number(out, right, record_bits / 8);
    return;
  }
  append_number(out, left & 0xff'ffff, 3);
  append_number(out, (left >> 24 & 0xf) << 4 | (right >> 24 & 0xf), 1);
  append_number(out, right & 0xff'ffff, 3);
}

void append_metadata(std::string& out, std::size_t node_count, const MmdbOptions& options) {
  out += kMarker;
  append_map(out, 9);
  append_string(out, "node_count");
  append_unsigned(out, 6, 4, node_count);
  append_string(out, "record_size");
  append_unsigned(out, 5, 2, options.record_bits);
  append_string(out, "ip_version");
  append_unsigned(out, 5, 2, options.ip_version);
  append_string(out, "database_type");
  append_string(out, options.type);
  append_string(out, "languages");
  append_control(out, 11, 1);
  append_string(out, "en");
  append_string(out, "binary_format_major_version");
  append_unsigned(out, 5, 2, 2);
  append_string(out, "binary_format_minor_version");
  append_unsigned(out, 5, 2, 0);
  append_string(out, "build_epoch");
  append_unsigned(out, 9, 8, options.build_epoch);
  append_string(out, "description");
  append_map(out, 1);
  append_string(out, "en");
  append_string(out, "made by a test");
}

}  // namespace

std::string mmdb(const std::vector<MmdbCountry>& countries, const MmdbOptions& options) {
  std::vector<std::pair<Network, std::string>> sorted;
  sorted.reserve(countries.size());
  for (const MmdbCountry& country : countries) {
    sorted.emplace_back(Network::parse(country.network).value(), country.code);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.first.prefix_bits() < b.first.prefix_bits();
  });
  SearchTree tree(options.ip_version);
  DataSection data(options);
  for (const auto& [network, code] : sorted) {
    tree.insert(network, {Record::Kind::data, data.record(code)});
  }
  if (options.alias_v4) {
    tree.alias("::ffff:0:0/96");
    tree.alias("2002::/16");
  }
  std::string out;
  const std::size_t count = tree.nodes().size();
  for (const auto& node : tree.nodes()) {
    append_node(out, encoded(node[0], count), encoded(node[1], count), options.record_bits);
  }
  out.append(kSeparatorBytes, '\0');
  out += data.bytes();
  append_metadata(out, count, options);
  return out;
}

MmdbLayout layout(std::string_view file, const MmdbOptions& options) {
  MmdbLayout out;
  out.metadata = file.rfind(kMarker) + kMarker.size();
  const std::size_t count_at = file.find("node_count", out.metadata) + 11;
  std::size_t nodes = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    nodes = nodes << 8 | static_cast<unsigned char>(file[count_at + i]);
  }
  out.data = nodes * options.record_bits / 4 + kSeparatorBytes;
  return out;
}

TemporaryFile::TemporaryFile(std::string_view content) : path_(::testing::TempDir()) {
  path_ += "ringside-XXXXXX";
  // Written as it was made, without truncation: ext4 waits for the disk where that is followed by
  // close(), and some tests make thousands of files.
  const int fd = ::mkstemp(path_.data());
  RINGSIDE_CHECK(fd >= 0);
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    RINGSIDE_CHECK(written > 0);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  ::close(fd);
}

TemporaryFile::~TemporaryFile() { std::remove(path_.c_str()); }

void TemporaryFile::write(std::string_view content) const {
  std::ofstream out(path_, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  RINGSIDE_CHECK(out.good());
}

}  // namespace ringside::support
