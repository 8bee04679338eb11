#include "tests/simulation/handoff_scenes.h"

namespace ringside::simulation {

std::vector<HandoffScene> handoff_scenes() {
  std::vector<HandoffScene> all;
  for (const auto some :
       {change_scenes(), failure_scenes(), page_scenes(), purge_scenes(), cut_scenes()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace ringside::simulation
