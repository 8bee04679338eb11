#include "shard/weightless.h"

#include <fmt/format.h>

#include "shard/quotation.h"

namespace ringside::shard {

Result<void> check_no_weights(std::span<const Member> members, std::string_view scheme) {
  for (const Member& member : members) {
    if (member.weight <= 1) continue;
    return invalid_input(fmt::format(
        "member {}: weight is {}, but the scheme {} knows no weights but 0; leave it at 1 or "
        "choose the scheme \"ring\"",
        quotation(member.name), member.weight, scheme));
  }
  return {};
}

}  // namespace ringside::shard
