#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::support {

// A MaxMind DB file (format 2.0) made from a list, so that tests need no foreign data.
struct MmdbCountry {
  std::string network;  // as Network::parse reads it; the longest prefix wins
  std::string code;
};

enum class MmdbSchema {
  nested,   // country.iso_code, among other fields, as MaxMind's own
  flat,     // top-level country_code
  no_code,  // records of something else, as in an ASN database
};

struct MmdbOptions {
  unsigned record_bits = 28;  // 24, 28 or 32
  unsigned ip_version = 6;    // 4 takes IPv4 networks only
  MmdbSchema schema = MmdbSchema::nested;
  bool alias_v4 = false;  // the IPv4 tree hangs below ::ffff:0:0/96 and 2002::/16 too
  std::string type = "Ringside-Test-Country";
  std::uint64_t build_epoch = 1'700'000'000;  // 2023-11-14
  std::string record = {};  // encoded data of every record instead of the schema's
};

// The bytes of the file.
[[nodiscard]] std::string mmdb(const std::vector<MmdbCountry>& countries,
                               const MmdbOptions& options = {});

// Where the parts of such a file begin, for tests that damage one.
struct MmdbLayout {
  std::size_t data = 0;      // the data section, behind tree and separator
  std::size_t metadata = 0;  // behind the marker
};
[[nodiscard]] MmdbLayout layout(std::string_view file, const MmdbOptions& options = {});

// A file with that content in the test's temporary folder, deleted at the end of the scope.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // Rewrites the same file in place.
  void write(std::string_view content) const;

 private:
  std::string path_;
};

}  // namespace ringside::support
