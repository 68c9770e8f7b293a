#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "agents/agreement.h"
#include "agents/policy.h"

namespace agora::agents {

// Does what its members, linked, would do where they agree; where they do not, an explorer acts for
// some steps. It sees pictures with the trace of the episode. Of up to so many rows.
std::unique_ptr<Policy> exploring(std::vector<std::unique_ptr<Policy>> members, Link link,
                                  std::unique_ptr<Policy> explorer, int64_t rows,
                                  const Exploration& how);

}  // namespace agora::agents
