#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/clock.h"
#include "k8s/failure.h"
#include "k8s/roster.h"

namespace ringside::k8s {

// A replica as one answer has it.
struct DnsHost {
  std::string name;
  Endpoint address;  // host empty: it is named and has no address
  bool operator==(const DnsHost&) const = default;
};

// A replica that was seen, and has not been missing for too long.
struct DnsMember {
  Endpoint address;         // host empty: nowhere at present
  Milliseconds missing{0};  // for so long, as far as answers tell
  bool operator==(const DnsMember&) const = default;
};

// What the answers so far have told.
struct DnsKnown {
  std::map<std::string, DnsMember> members;             // by name
  std::map<std::string, std::uint64_t> first_ordinals;  // of a StatefulSet, the lowest ever seen
  std::optional<SteadyPoint>
      last_answer;  // absent: nothing was told since then that we may rely on
  bool operator==(const DnsKnown&) const = default;
};

// A headless service lists those of its pods that are ready. Membership is not readiness: whoever
// is a member keeps its shard while it restarts. So there are three rules, which together are THE
// membership by DNS:
//
// - Names of the form BASE-N are a StatefulSet's pods: all from the lowest N ever seen to the
//   highest that is a member are members, seen or not. A StatefulSet grows and shrinks at the end.
// - A member that is missing in the answers stays one, without an address, for `kept`.
// - Only answers with records count for that time, from one such answer to the next. An answer
//   without any, or none at all, changes nothing (without_answer): a name server that has just lost
//   its data says just what it would say if the last replica were gone, and who believes it empties
//   the tier. That the replicas are not there, if it is so, requests notice by themselves.
//
// Malformed, beyond limits::members: nothing has changed.
[[nodiscard]] Outcome<DnsKnown> with_answer(DnsKnown known, const std::vector<DnsHost>& hosts,
                                            SteadyPoint now, Milliseconds kept);
[[nodiscard]] DnsKnown without_answer(DnsKnown known);

// The members of what is known, in the order of their names. Who was in the last answer is ready.
[[nodiscard]] Roster roster_of(const DnsKnown& known);

// The name of a StatefulSet's pod. Names that CoreDNS makes of a pod's address (`10-1-2-3`) are
// none.
struct OrdinalName {
  std::string base;
  std::uint64_t ordinal = 0;
  bool operator==(const OrdinalName&) const = default;
};
[[nodiscard]] std::optional<OrdinalName> ordinal_name(std::string_view name);

}  // namespace ringside::k8s
