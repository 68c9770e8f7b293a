#include "compute/plan.h"

#include <fmt/format.h>

#include "compute/images.h"
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
  assign_memory(plan, request.limits.alignment, request.limits.roomy_features);
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
