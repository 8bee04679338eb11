#pragma once

#include <string>
#include <string_view>

#include "tier/membership.h"

namespace ringside::program {

// What a change of the members is, as a line of the log tells it: versions, how many there are, who
// came and who left, and `by` what. Empty: nothing that a topology says has changed.
[[nodiscard]] std::string change_text(const tier::Membership& before, const tier::Membership& after,
                                      std::string_view by);
// Writes it, where there is something to be told.
void log_change(const tier::MembershipPointer& before, const tier::MembershipPointer& after,
                std::string_view by);

}  // namespace ringside::program
