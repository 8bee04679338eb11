#include "link/tickets.h"

#include <charconv>
#include <utility>
#include <vector>

#include "base/limits.h"

namespace ringside::link {
namespace {

constexpr std::uint64_t core_bits = 0xff;
static_assert(limits::threads <= core_bits + 1);

}  // namespace

std::size_t core_of(std::uint64_t ticket) noexcept { return ticket & core_bits; }

Tickets::Tickets(net::Core& core)
    : Deadline(core.deadlines()),
      core_(core),
      numbers_(std::random_device()()),
      self_(std::make_shared<Tickets*>(this)) {
  core_.add(static_cast<net::Closable&>(*this));
}

Tickets::~Tickets() { *self_ = nullptr; }

std::uint64_t Tickets::add(std::shared_ptr<Begun> begun) {
  if (rows_.size() >= limits::tickets || core_.stopped()) return 0;
  std::uint64_t number = 0;
  while (number == 0 || rows_.contains(number)) {
    number = (numbers_() & ~core_bits) | core_.index();
  }
  const SteadyPoint until = core_.steady_now() + limits::ticket_timeout;
  rows_.emplace(number, Row{std::move(begun), until, std::make_unique<net::Errand>(core_)});
  if (!armed()) Deadline::set(until);
  return number;
}

std::shared_ptr<Begun> Tickets::take(std::uint64_t number, const http::RequestHead& request) {
  const auto found = rows_.find(number);
  if (found == rows_.end()) return nullptr;
  const http::RequestHead& begun = found->second.begun->in_hand().head();
  const bool is_same = begun.method == request.method && begun.target == request.target &&
                       begun.host == request.host;
  if (!is_same) return nullptr;
  std::shared_ptr<Begun> taken = std::move(found->second.begun);
  rows_.erase(found);
  return taken;
}

// Later: what is dropped may have deadlines of its own, which the wheel is going through.
void Tickets::expire() noexcept {
  core_.post([self = self_] {
    if (*self != nullptr) (*self)->drop_until((*self)->core_.steady_now());
  });
}

// Later, too: what is dropped may be closed itself in this round.
void Tickets::close() noexcept {
  core_.post([self = self_] {
    if (*self != nullptr) (*self)->drop_until(SteadyPoint::max());
  });
}

void Tickets::drop_until(SteadyPoint time) {
  std::vector<std::shared_ptr<Begun>> dropped;
  SteadyPoint next = SteadyPoint::max();
  for (auto row = rows_.begin(); row != rows_.end();) {
    if (row->second.until <= time) {
      dropped.push_back(std::move(row->second.begun));
      row = rows_.erase(row);
    } else {
      next = std::min(next, row->second.until);
      ++row;
    }
  }
  if (next != SteadyPoint::max()) Deadline::set(next);
}

std::uint64_t parse_ticket(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, 16);
  return parsed.ec == std::errc{} && parsed.ptr == end ? number : 0;
}

}  // namespace ringside::link
