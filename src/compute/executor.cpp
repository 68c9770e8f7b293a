#include "compute/executor.h"

namespace agora::compute {

int32_t non_finite_source(const Plan& plan, const std::function<bool(size_t)>& input_is_finite,
                          const std::function<bool(size_t)>& variable_is_finite) {
  for (int32_t id = 0; id < plan.graph->size(); ++id) {
    const Node& node = plan.graph->node(id);
    for (size_t k = 0; k < plan.inputs.size() && node.op == Op::kInput; ++k) {
      const PlannedInput& it = plan.inputs[k];
      if (it.name != node.name || it.storage == Storage::kByte) continue;
      if (!input_is_finite(k)) return id;
    }
    for (size_t k = 0; k < plan.variables.size() && node.op == Op::kVariable; ++k) {
      if (plan.variables[k].name == node.name && !variable_is_finite(k)) return id;
    }
  }
  return -1;
}

}  // namespace agora::compute
