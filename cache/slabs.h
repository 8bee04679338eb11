#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/limits.h"
#include "cache/pages.h"

namespace ringside::cache {

// Memory for bodies in slabs of blocks (see limits::slab_size_bytes). A body takes any blocks that
// are free, in several runs where there is no long one: so nothing is lost between bodies of
// changing sizes, as it is between an allocator's. What is free beyond a slack is given back to the
// kernel by the page, first those of the slab that has had free ones for longest: the call
// interrupts all cores, and what was freed just now is what is taken next. Not thread-safe.
class Slabs {
 public:
  static constexpr std::size_t block_bytes = limits::slab_block_size_bytes;

  // No more than `most_bytes` are mapped while what is asked for is free somewhere.
  explicit Slabs(std::size_t most_bytes);
  ~Slabs();
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;

  struct Run {
    char* bytes = nullptr;
    std::uint32_t slab = 0;
    std::uint16_t blocks = 0;
    std::uint16_t fresh_pages = 0;  // that the kernel has not given yet
    [[nodiscard]] std::size_t size_bytes() const noexcept { return blocks * block_bytes; }
  };
  // As many blocks in a row as are asked for, at most a slab's; fewer where no so many are free.
  // Without any blocks: the kernel has no memory.
  [[nodiscard]] Run allocate(std::size_t blocks);
  void free(const Run& run) noexcept;
  // Has the kernel give all fresh pages of a run at once, rather than one by one as they are
  // written to. Needs no lock.
  static void populate(const Run& run) noexcept;

  [[nodiscard]] std::size_t used_bytes() const noexcept { return used_blocks_ * block_bytes; }
  // What the kernel holds for it.
  [[nodiscard]] std::size_t held_bytes() const noexcept { return held_pages_ * page_bytes; }
  [[nodiscard]] std::size_t slack_bytes() const noexcept { return slack_bytes_; }
  // What is held beyond what is used and the slack: between bodies, on pages of which some bytes
  // are used.
  [[nodiscard]] std::size_t excess_bytes() const noexcept;

 private:
  static constexpr std::size_t blocks_per_slab = limits::slab_size_bytes / block_bytes;
  static constexpr std::size_t blocks_per_page = page_bytes / block_bytes;
  static constexpr std::size_t pages_per_slab = limits::slab_size_bytes / page_bytes;
  static constexpr std::size_t classes = 12;  // by the longest run: 1, 2 to 3, … , all of 2,048
  static_assert(blocks_per_slab == std::size_t{1} << (classes - 1));

  template <class Tag>
  using Hook =
      boost::intrusive::list_base_hook<boost::intrusive::tag<Tag>,
                                       boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
  struct ByRun;
  struct ByIdlePages;
  struct Slab : Hook<ByRun>, Hook<ByIdlePages> {
    char* bytes = nullptr;
    std::uint32_t index = 0;
    std::size_t longest = blocks_per_slab;                     // run of free blocks
    std::array<std::uint64_t, blocks_per_slab / 64> used{};    // a bit for each block
    std::array<std::uint64_t, pages_per_slab / 64> touched{};  // a bit for each page
    std::size_t idle_pages = 0;  // that the kernel has given, and of which nothing is used
  };
  template <class Tag>
  using List = boost::intrusive::list<Slab, boost::intrusive::base_hook<Hook<Tag>>,
                                      boost::intrusive::constant_time_size<false>>;
  struct Found {
    std::size_t first = 0;
    std::size_t blocks = 0;
  };

  [[nodiscard]] static Found longest_run(const Slab& slab) noexcept;
  [[nodiscard]] static std::size_t first_run(const Slab& slab, std::size_t blocks) noexcept;
  [[nodiscard]] Slab* slab_with(std::size_t blocks) noexcept;
  [[nodiscard]] Slab* slab_with_longest() noexcept;
  Slab* map_one();
  void file(Slab& slab) noexcept;
  [[nodiscard]] Run take(Slab& slab, std::size_t first, std::size_t blocks) noexcept;
  [[nodiscard]] static bool is_idle(const Slab& slab, std::size_t page) noexcept;
  void release_idle_pages(Slab& slab) noexcept;

  const std::size_t slabs_most_;
  const std::size_t slack_bytes_;
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::array<List<ByRun>, classes> with_run_;  // slabs that have free blocks
  List<ByIdlePages> with_idle_pages_;          // those that have them for longest last
  std::size_t used_blocks_ = 0;
  std::size_t held_pages_ = 0;
  std::size_t idle_pages_ = 0;
};

}  // namespace ringside::cache
