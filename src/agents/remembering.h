#pragma once
#include <cstdint>
#include <memory>

#include "agents/episode_memory.h"
#include "agents/policy.h"

namespace agora::agents {

// A policy that also remembers its episodes, of up to so many rows.
std::unique_ptr<Policy> remembering(std::unique_ptr<Policy> policy, int64_t rows,
                                    const MemoryOptions& how);

}  // namespace agora::agents
