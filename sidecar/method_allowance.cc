#include "sidecar/method_allowance.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/limits.h"
#include "http/head.h"

namespace ringside::sidecar {
namespace {

constexpr double kBurst = limits::rare_methods_burst;

double count_at(double count, SteadyPoint then, SteadyPoint now) noexcept {
  const std::chrono::duration<double> passed = now - then;
  return std::min(kBurst, count + passed.count() * limits::rare_methods_per_second);
}

// Who has an IPv6 address has 2^64 of them.
IpAddress counted_as(const IpAddress& client) {
  constexpr unsigned client_prefix_bits = 64;
  return client.is_v4() ? client : Network::around(client, client_prefix_bits).base();
}

}  // namespace

bool MethodAllowance::is_rare(std::string_view method) noexcept {
  constexpr std::array<std::string_view, 4> usual = {"POST", "PUT", "PATCH", "DELETE"};
  return !http::is_safe(method) && std::find(usual.begin(), usual.end(), method) == usual.end();
}

bool MethodAllowance::take(const IpAddress& client, SteadyPoint now) {
  const IpAddress counted = counted_as(client);
  auto found = clients_.find(counted);
  if (found == clients_.end() && clients_.size() >= limits::rare_method_clients) forget_rested(now);
  if (found == clients_.end() && clients_.size() < limits::rare_method_clients) {
    found = clients_.emplace(counted, Left{kBurst, now}).first;
  }
  Left& left = found == clients_.end() ? others_ : found->second;
  left = {count_at(left.count, left.at, now), now};
  if (left.count < 1) return false;
  left.count -= 1;
  return true;
}

// Who has all of them again is as good as new. Looked for once a second at most: nobody can have
// the whole table looked at by each request.
void MethodAllowance::forget_rested(SteadyPoint now) {
  if (now - looked_ < Seconds{1}) return;
  looked_ = now;
  std::erase_if(clients_, [now](const auto& client) {
    return count_at(client.second.count, client.second.at, now) >= kBurst;
  });
}

}  // namespace ringside::sidecar
