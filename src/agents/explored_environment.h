#pragma once
#include <cstdint>
#include <memory>

#include "agents/environment.h"

namespace agora::agents {

// The same environments as an explorer sees them: pictures have the trace of the episode, and the
// reward is how new a picture is among the `neighbours` nearest, whatever the game pays. That an
// episode comes to its end is no loss: it counts as one that was cut off, where ends are shown.
std::unique_ptr<Environment> for_explorer(std::unique_ptr<Environment> played, int64_t neighbours);

}  // namespace agora::agents
