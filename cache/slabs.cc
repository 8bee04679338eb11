#include "cache/slabs.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

namespace ringside::cache {
namespace {

constexpr std::size_t word_bits = 64;

bool has(const auto& bits, std::size_t index) noexcept {
  return (bits[index / word_bits] >> (index % word_bits) & 1) != 0;
}

void set(auto& bits, std::size_t index) noexcept {
  bits[index / word_bits] |= std::uint64_t{1} << (index % word_bits);
}

void clear(auto& bits, std::size_t index) noexcept {
  bits[index / word_bits] &= ~(std::uint64_t{1} << (index % word_bits));
}

// The first bit from `from` on that is `value`; `end` where there is none.
std::size_t find_bit(const auto& bits, std::size_t from, std::size_t end, bool value) noexcept {
  while (from < end) {
    const std::uint64_t word = value ? bits[from / word_bits] : ~bits[from / word_bits];
    const std::uint64_t rest = word >> (from % word_bits);
    if (rest != 0) return std::min(end, from + static_cast<std::size_t>(std::countr_zero(rest)));
    from = (from / word_bits + 1) * word_bits;
  }
  return end;
}

std::size_t class_of(std::size_t run) noexcept {
  return static_cast<std::size_t>(std::bit_width(run)) - 1;
}

}  // namespace

Slabs::Slabs(std::size_t most_bytes)
    : slabs_most_(most_bytes / limits::slab_size_bytes + 1),
      slack_bytes_(
          std::max(most_bytes / limits::slab_slack_divisor, limits::slab_slack_least_bytes)) {}

Slabs::~Slabs() {
  for (const auto& slab : slabs_) ::munmap(slab->bytes, limits::slab_size_bytes);
}

std::size_t Slabs::excess_bytes() const noexcept {
  const std::size_t expected = used_bytes() + slack_bytes_;
  return held_bytes() > expected ? held_bytes() - expected : 0;
}

Slabs::Run Slabs::allocate(std::size_t blocks) {
  blocks = std::clamp<std::size_t>(blocks, 1, blocks_per_slab);
  if (Slab* const slab = slab_with(blocks)) return take(*slab, first_run(*slab, blocks), blocks);
  constexpr std::size_t least = limits::slab_run_least_bytes / block_bytes;
  Slab* const longest = slab_with_longest();
  const bool is_enough = longest != nullptr && longest->longest >= std::min(least, blocks);
  if (slabs_.size() < slabs_most_ || !is_enough) {
    if (Slab* const fresh = map_one()) return take(*fresh, 0, blocks);
    if (longest == nullptr) return {};
  }
  const Found run = longest_run(*longest);
  return take(*longest, run.first, run.blocks);
}

// The full ones of a class have room for certain; of the class below, some may.
Slabs::Slab* Slabs::slab_with(std::size_t blocks) noexcept {
  constexpr std::size_t looked_at_most = 8;
  const std::size_t below = class_of(blocks);
  std::size_t looked_at = 0;
  for (Slab& slab : with_run_[below]) {
    if (slab.longest >= blocks) return &slab;
    if (++looked_at == looked_at_most) break;
  }
  for (std::size_t index = below + 1; index < classes; ++index) {
    if (!with_run_[index].empty()) return &with_run_[index].front();
  }
  return nullptr;
}

Slabs::Slab* Slabs::slab_with_longest() noexcept {
  for (std::size_t index = classes; index-- > 0;) {
    if (!with_run_[index].empty()) return &with_run_[index].front();
  }
  return nullptr;
}

Slabs::Slab* Slabs::map_one() {
  auto slab = std::make_unique<Slab>();
  void* const bytes = ::mmap(nullptr, limits::slab_size_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) return nullptr;
  // Else the kernel holds 2 MiB for the first byte of them.
  ::madvise(bytes, limits::slab_size_bytes, MADV_NOHUGEPAGE);
  slab->bytes = static_cast<char*>(bytes);
  slab->index = static_cast<std::uint32_t>(slabs_.size());
  file(*slab);
  slabs_.push_back(std::move(slab));
  return slabs_.back().get();
}

void Slabs::file(Slab& slab) noexcept {
  static_cast<Hook<ByRun>&>(slab).unlink();
  if (slab.longest > 0) with_run_[class_of(slab.longest)].push_front(slab);
}

Slabs::Found Slabs::longest_run(const Slab& slab) noexcept {
  Found longest;
  for (std::size_t at = 0; at < blocks_per_slab;) {
    const std::size_t first = find_bit(slab.used, at, blocks_per_slab, false);
    at = find_bit(slab.used, first, blocks_per_slab, true);
    if (at - first > longest.blocks) longest = {first, at - first};
  }
  return longest;
}

std::size_t Slabs::first_run(const Slab& slab, std::size_t blocks) noexcept {
  std::size_t first = 0;
  for (std::size_t at = 0; at - first < blocks;) {
    first = find_bit(slab.used, at, blocks_per_slab, false);
    at = find_bit(slab.used, first, blocks_per_slab, true);
  }
  return first;
}

Slabs::Run Slabs::take(Slab& slab, std::size_t first, std::size_t blocks) noexcept {
  const std::size_t last_page = (first + blocks - 1) / blocks_per_page;
  const std::size_t held_before = held_pages_;
  for (std::size_t page = first / blocks_per_page; page <= last_page; ++page) {
    if (is_idle(slab, page)) {
      --slab.idle_pages;
      --idle_pages_;
    }
    if (has(slab.touched, page)) continue;
    set(slab.touched, page);
    ++held_pages_;
  }
  if (slab.idle_pages == 0) static_cast<Hook<ByIdlePages>&>(slab).unlink();
  for (std::size_t block = first; block < first + blocks; ++block) set(slab.used, block);
  used_blocks_ += blocks;
  slab.longest = longest_run(slab).blocks;
  file(slab);
  return {slab.bytes + first * block_bytes, slab.index, static_cast<std::uint16_t>(blocks),
          static_cast<std::uint16_t>(held_pages_ - held_before)};
}

// Where the kernel can't, pages come as they are written to.
void Slabs::populate(const Run& run) noexcept {
  constexpr std::uint16_t worth_a_call = 4;
  if (run.fresh_pages < worth_a_call) return;
  [[maybe_unused]] const auto into_page = reinterpret_cast<std::uintptr_t>(run.bytes) % page_bytes;
#ifdef MADV_POPULATE_WRITE
  ::madvise(run.bytes - into_page, run.size_bytes() + into_page, MADV_POPULATE_WRITE);
#endif
}

void Slabs::free(const Run& run) noexcept {
  Slab& slab = *slabs_[run.slab];
  const std::size_t first = static_cast<std::size_t>(run.bytes - slab.bytes) / block_bytes;
  for (std::size_t block = first; block < first + run.blocks; ++block) clear(slab.used, block);
  used_blocks_ -= run.blocks;
  slab.longest = longest_run(slab).blocks;
  file(slab);
  const std::size_t last_page = (first + run.blocks - 1) / blocks_per_page;
  for (std::size_t page = first / blocks_per_page; page <= last_page; ++page) {
    if (!is_idle(slab, page)) continue;
    if (slab.idle_pages++ == 0) with_idle_pages_.push_front(slab);
    ++idle_pages_;
  }
  if (!can_release_pages()) return;
  while (idle_pages_ * page_bytes > slack_bytes_) {
    release_idle_pages(with_idle_pages_.back());
  }
}

bool Slabs::is_idle(const Slab& slab, std::size_t page) noexcept {
  const std::size_t first = page * blocks_per_page, end = first + blocks_per_page;
  return has(slab.touched, page) && find_bit(slab.used, first, end, true) == end;
}

// All of the slab's, with as few calls as possible.
void Slabs::release_idle_pages(Slab& slab) noexcept {
  for (std::size_t page = 0; page < pages_per_slab; ++page) {
    std::size_t end = page;
    while (end < pages_per_slab && is_idle(slab, end)) clear(slab.touched, end++);
    if (end == page) continue;
    ::madvise(slab.bytes + page * page_bytes, (end - page) * page_bytes, MADV_DONTNEED);
    held_pages_ -= end - page;
    page = end;
  }
  idle_pages_ -= slab.idle_pages;
  slab.idle_pages = 0;
  static_cast<Hook<ByIdlePages>&>(slab).unlink();
}

}  // namespace ringside::cache
