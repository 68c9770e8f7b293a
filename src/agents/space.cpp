#include "agents/space.h"

#include <functional>
#include <numeric>

namespace agora::agents {

int64_t ObservationSpace::size() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

}  // namespace agora::agents
