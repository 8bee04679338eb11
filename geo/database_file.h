#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "geo/country.h"

namespace ringside::geo {

// A MaxMind DB file while it is being turned into a CountryTree. It is read once into anonymous
// memory, so that somebody who rewrites or cuts the file meanwhile can't end us with SIGBUS, and
// what he writes later is not seen.
class DatabaseFile {
 public:
  // The outlines are checked: size, metadata, sections. Errors name the file and the remedy.
  [[nodiscard]] static Result<std::unique_ptr<DatabaseFile>> open(const std::string& path);
  ~DatabaseFile();
  DatabaseFile(const DatabaseFile&) = delete;
  DatabaseFile& operator=(const DatabaseFile&) = delete;

  [[nodiscard]] bool is_v4_only() const noexcept;
  [[nodiscard]] std::uint32_t node_count() const noexcept;  // > 0
  [[nodiscard]] std::string type() const;
  [[nodiscard]] std::uint64_t build_epoch() const noexcept;  // seconds since 1970

  // The records for bit 0 and bit 1. Below node_count: the next node; equal to it: nothing is
  // known; above: data. `node` < node_count.
  [[nodiscard]] std::array<std::uint32_t, 2> children(std::uint32_t node) const noexcept;

  struct CountryField {
    bool present = false;
    Country country;
  };
  // What the data that `record` (> node_count) points to says of the country; nullopt where the
  // file is corrupt there.
  [[nodiscard]] std::optional<CountryField> country_field(std::uint32_t record) const;

 private:
  struct Handle;
  explicit DatabaseFile(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

// An Error about the file: what is wrong and what to do, besides running without.
[[nodiscard]] Error bad_database(const std::string& path, std::string_view what,
                                 std::string_view remedy = "download it again");

}  // namespace ringside::geo
