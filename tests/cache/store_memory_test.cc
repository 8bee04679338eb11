#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/limits.h"
#include "cache/store.h"
#include "tests/cache/some_response.h"

namespace ringside::cache {
namespace {

using limits::kKiB;
using limits::kMiB;

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// STORE_MEMORY_MIB: how large the store is. 768 is worth a look now and then.
std::size_t memory_bytes_of_store() {
  const char* const told = std::getenv("STORE_MEMORY_MIB");
  return (told == nullptr ? 32 : std::strtoul(told, nullptr, 10)) * kMiB;
}

constexpr bool is_sanitized() {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#endif
  return false;
}

class Load {
 public:
  explicit Load(std::size_t limit_bytes) : store_(limit_bytes), text_(4 * kMiB, 'x') {}

  // Puts bodies of sizes between the two until so much has gone in.
  void put(std::size_t least_bytes, std::size_t most_bytes, std::size_t all_bytes) {
    for (std::size_t done = 0; done < all_bytes;) {
      const std::size_t size = least_bytes + random_() % (most_bytes - least_bytes + 1);
      done += size + kKiB;
      CacheKey key;
      key.text = "http\na.test\n/some/path/" + std::to_string(random_()) + "\n";
      key.hash = key.own_hash = hash64(key.text);
      const std::size_t pieces = (size + 65'535) / 65'536;
      if (!store_.reserve(size + pieces * 1024)) continue;
      auto body = make_body();
      body->size_bytes = size;
      for (std::size_t at = 0; at < size; at += 65'536) {
        const std::string_view text(text_.data(), std::min<std::size_t>(65'536, size - at));
        for (auto& piece : store_.memory().make({&text, 1}, 0)) {
          body->pieces.push_back(std::move(piece));
        }
      }
      store_.give_back(size + pieces * 1024);
      const std::string tag = "\"" + std::to_string(random_()) + "\"";  // fields are views
      const auto fields = fields_of({{"Cache-Control", "max-age=60"},
                                     {"Content-Type", "application/octet-stream"},
                                     {"ETag", tag}});
      const auto head = response_of(fields, "")->head;
      store_.put(key, make_stored({head, std::move(body)}), 0);
      most_bytes_ = std::max(most_bytes_, resident_bytes());
    }
    std::cout << least_bytes << " to " << most_bytes << " bytes: used "
              << store_.used_bytes() / kMiB << " MiB by " << store_.entries() << ", resident "
              << resident_bytes() / kMiB << " MiB\n";
  }

  [[nodiscard]] std::size_t most_bytes() const noexcept { return most_bytes_; }

 private:
  Store store_;
  const std::string text_;
  std::mt19937_64 random_{1};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  std::size_t most_bytes_ = 0;
};

// `--memory 768MiB` went to 1,396 MiB resident: what one size left free no other could use.
TEST(StoreMemory, AChangingMixOfSizesStaysResidentWithinTheBudget) {
  const std::size_t limit_bytes = memory_bytes_of_store();
  const std::size_t before_bytes = resident_bytes();
  Load load(limit_bytes);
  for (unsigned round = 0; round < 2; ++round) {
    load.put(100, 2 * kKiB, limit_bytes + limit_bytes / 2);
    load.put(2 * kKiB, 20 * kKiB, limit_bytes + limit_bytes / 2);
    load.put(20 * kKiB, 200 * kKiB, limit_bytes / 2);
    load.put(100, 20 * kKiB, limit_bytes / 2);
    load.put(200 * kKiB, 4 * kMiB, 2 * limit_bytes);
    load.put(100, 4 * kMiB, 2 * limit_bytes);
    load.put(5000, 5001, limit_bytes / 2);
    load.put(100'000, 3'000'000, limit_bytes / 2);
  }
  const std::size_t grown_bytes = load.most_bytes() - before_bytes;
  std::cout << "a store of " << limit_bytes / kMiB << " MiB: grown by " << grown_bytes / kMiB
            << " MiB at most\n";
  if (!is_sanitized()) {
    EXPECT_LE(grown_bytes, limit_bytes + limit_bytes * 8 / 100 + 64 * kMiB);
  }
}

}  // namespace
}  // namespace ringside::cache
