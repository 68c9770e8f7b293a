#include "compute/plan.h"

#include <fmt/format.h>

#include "compute/images.h"
#include "compute/kernel/in_place.h"
#include "compute/kernel/join.h"
#include "compute/kernel/schedule.h"
#include "compute/lower.h"
#include "compute/operation.h"
#include "compute/simplify.h"

namespace agora::compute {
namespace {

void count_flops(Plan& plan, const std::vector<Step>& steps, bool rows, double times) {
  for (const Step& step : steps) {
    count_flops(plan, step.body, rows, times * static_cast<double>(step.times));
    if (step.kind != StepKind::kOperation || operation(step.op).flops == nullptr) continue;
    std::vector<Shape> inputs;
    for (const View& input : step.inputs) inputs.push_back(input.shape);
    const double flops = operation(step.op).flops(inputs, step.outputs[0].shape);
    (rows ? plan.flops_per_row : plan.shared_flops) += flops * times;
  }
}

std::string shape_of(const View& it) {
  if (it.uniform) return fmt::format("{}", it.value);
  if (it.buffer < 0) return "-";
  return fmt::format("b{}{}{}", it.buffer, it.rows ? "" : "s", to_string(it.shape));
}

void list_steps(const Plan& plan, const std::vector<Step>& steps, const std::string& indent,
                std::string& text) {
  for (const Step& step : steps) {
    const char* kind = "";
    switch (step.kind) {
      case StepKind::kElementwise:
        kind = "group";
        break;
      case StepKind::kLoadRows:
        kind = "load";
        break;
      case StepKind::kStoreRows:
        kind = "store";
        break;
      case StepKind::kLoop:
        kind = "loop";
        break;
      case StepKind::kOperation:
        kind = step.op == Op::kReshape ? "copy" : op_name(step.op);
        break;
    }
    text += indent + kind;
    if (step.kind == StepKind::kLoop) text += fmt::format(" {} times", step.times);
    if (step.stack > 0) text += fmt::format(" of stack {}", step.stack);
    for (const View& input : step.inputs) text += " " + shape_of(input);
    text += " ->";
    for (const View& output : step.outputs) text += " " + shape_of(output);
    if (step.activation != Op::kReshape) text += fmt::format(" {}", op_name(step.activation));
    if (!step.code.empty()) text += " :";
    for (const Instruction& code : step.code) text += fmt::format(" {}", op_name(code.op));
    text += "\n";
    list_steps(plan, step.body, indent + "  ", text);
  }
}

// Weights of products meet eight columns at once, which are the rows of a tile at all positions.
// The work of a tile of so many rows, in products that are wide enough to matter.
double work_of(const std::vector<Step>& steps, int64_t lanes) {
  double total = 0;
  for (const Step& step : steps) {
    total += static_cast<double>(step.times) * work_of(step.body, lanes);
    if (step.kind != StepKind::kOperation || (step.op != Op::kMatmul && step.op != Op::kOuter)) {
      continue;
    }
    const int64_t in = step.inputs[0].shape.back();
    const int64_t out = step.inputs[1].shape.back();
    const int64_t columns = (step.inputs[0].count() / in * lanes + 7) / 8;
    if (in * out >= kWideProduct) total += static_cast<double>(in * out * columns);
  }
  return total;
}

// Whether tiles of four rows leave a block much less to do than those of eight.
bool gains_by_small_tiles(const Plan& plan) {
  double four = 0, eight = 0;
  for (const Phase& phase : plan.phases) {
    four += work_of(phase.rows, 4);
    eight += work_of(phase.rows, 8);
  }
  return four < 0.8 * eight;
}

// Memory for steps in the order of their depth; false, and nothing done, where that takes too much.
bool assign_ordered(Plan& plan, const PlanLimits& limits, int64_t room, int64_t most) {
  std::vector<Phase> phases = plan.phases;
  std::vector<Buffer> buffers = plan.buffers;
  const int64_t inverse_rows = plan.inverse_rows, shared_elements = plan.shared_elements;
  const auto inputs = plan.inputs;
  const auto constants = plan.constants;
  for (Phase& phase : plan.phases) kernel::order_by_depth(plan, phase.rows);
  assign_memory(plan, limits.alignment, room, most, limits.stack_bytes);
  if (plan.scratch_features <= most) return true;
  plan.phases = std::move(phases);
  plan.buffers = std::move(buffers);
  plan.inputs = inputs;
  plan.constants = constants;
  plan.inverse_rows = inverse_rows;
  plan.shared_elements = shared_elements;
  plan.scratch_features = plan.kept_features = plan.image_features = 0;
  return false;
}

}  // namespace

Plan make_plan(const Graph& graph, const PlanRequest& request) {
  std::vector<int32_t> roots;
  for (const auto& [name, id] : request.outputs) roots.push_back(id);
  for (const auto& [variable, id] : request.updates) {
    roots.push_back(variable);
    roots.push_back(id);
  }
  Simplified simple = simplify(graph, roots, request.simplify);
  PlanRequest mapped{.limits = request.limits};
  size_t next = 0;
  for (const auto& [name, id] : request.outputs) {
    mapped.outputs.emplace_back(name, simple.roots[next++]);
  }
  for (size_t k = 0; k < request.updates.size(); ++k, next += 2) {
    mapped.updates.emplace_back(simple.roots[next], simple.roots[next + 1]);
  }
  Plan plan;
  plan.graph = std::move(simple.graph);
  mapped.limits.images = mapped.limits.images && has_images(*plan.graph);
  Lowering(plan, mapped).run();
  if (mapped.limits.images) cut_images(plan);
  const PlanLimits& limits = request.limits;
  plan.small_tiles =
      request.rows > 0 && request.rows <= limits.few_rows && gains_by_small_tiles(plan);
  const int64_t room = limits.roomy_features * (plan.small_tiles ? 4 : 1);
  const int64_t most = plan.small_tiles ? room : 2 * room;
  if (room > 0) {
    kernel::join_groups(plan, static_cast<size_t>(limits.group_instructions));
    kernel::compute_states_in_place(plan);
    kernel::follow_reductions(plan);
    kernel::reflect_in_place(plan);
  }
  const bool ordered = room > 0 && assign_ordered(plan, limits, room, most);
  if (!ordered) assign_memory(plan, limits.alignment, room, most, limits.stack_bytes);
  for (const Phase& phase : plan.phases) {
    count_flops(plan, phase.shared, false, 1);
    count_flops(plan, phase.rows, true, 1);
    count_flops(plan, phase.images, true, 1);
  }
  return plan;
}

std::string to_string(const Plan& plan) {
  std::string text = fmt::format("scratch {} features, kept {} features, shared {} elements\n",
                                 plan.scratch_features, plan.kept_features, plan.shared_elements);
  for (size_t k = 0; k < plan.phases.size(); ++k) {
    text += fmt::format("phase {}: shared\n", k);
    list_steps(plan, plan.phases[k].shared, "  ", text);
    text += fmt::format("phase {}: rows\n", k);
    list_steps(plan, plan.phases[k].rows, "  ", text);
    if (plan.phases[k].images.empty()) continue;
    text += fmt::format("phase {}: images\n", k);
    list_steps(plan, plan.phases[k].images, "  ", text);
  }
  return text;
}

}  // namespace agora::compute
