#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "geo/country.h"
#include "geo/country_tree.h"

namespace ringside::geo {

// The countries of a MaxMind-format file. Opening reads the file once, checks all of it, keeps the
// countries in a tree of our own and lets the file go: look-ups can't fail, and the file may be
// replaced, cut or deleted at any time without being noticed. Immutable and thread-safe; a reload
// opens a new one beside it.
class CountryDatabase {
 public:
  // Missing, truncated and corrupt files, and files without countries, are Errors that name the
  // file and the remedy. Blocks for the reading (0.1 s for a country database, longer for a city
  // database): not for a thread that serves requests.
  [[nodiscard]] static Result<std::shared_ptr<const CountryDatabase>> open(const std::string& path);

  struct Lookup {
    Country country;
    unsigned prefix_bits = 128;  // in the 128-bit form: every address in the prefix answers alike
  };
  // `country.iso_code`, else top-level `country_code`, else ZZ. Special addresses are ZZ.
  [[nodiscard]] Lookup find(const IpAddress& address) const noexcept;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // The database's type and build date, one line for people. The type is text of the file's.
  [[nodiscard]] const std::string& description() const noexcept { return description_; }
  // Memory that the countries take.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return tree_.size_bytes(); }

 private:
  CountryDatabase(std::string path, std::string description, CountryTree tree);
  std::string path_;
  std::string description_;
  CountryTree tree_;
};

// A bounded memo of prefix → country in front of a database, so that a repeated prefix costs no
// tree walk. It has limits::geo_memo_entries slots; the /24 (IPv4) or /48 (IPv6) around an address
// chooses two of them, which keep their last two answers. Not thread-safe: one per core. Without a
// database everything is ZZ.
class CountryMemo {
 public:
  explicit CountryMemo(std::shared_ptr<const CountryDatabase> database = nullptr);
  // Special addresses are ZZ without a walk.
  [[nodiscard]] Country find(const IpAddress& address);
  // Forgets everything; the next look-ups ask the new database.
  void replace(std::shared_ptr<const CountryDatabase> database);
  [[nodiscard]] std::uint64_t walks() const noexcept { return walks_; }  // tree walks so far

 private:
  struct Entry {
    Network prefix;  // at first the single address `::`, which is ZZ anyway
    Country country;
  };
  [[nodiscard]] Entry answer_for(const IpAddress& address);

  std::shared_ptr<const CountryDatabase> database_;
  std::vector<Entry> entries_;  // empty without a database
  std::uint64_t walks_ = 0;
};

}  // namespace ringside::geo
