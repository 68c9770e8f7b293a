#include "compute/lower.h"

#include <algorithm>

#include "base/error.h"
#include "compute/images.h"

namespace agora::compute {
namespace {

std::vector<int64_t> dense_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

}  // namespace

View broadcast_view(View it, const Shape& shape) {
  const size_t extra = shape.size() - it.shape.size();
  std::vector<int64_t> strides(shape.size(), 0);
  for (size_t axis = 0; axis < it.shape.size(); ++axis) {
    if (it.shape[axis] > 1) strides[axis + extra] = it.strides[axis];
  }
  it.strides = std::move(strides);
  it.shape = shape;
  return it;
}

bool View::dense() const {
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] > 1 && strides[axis] != stride) return false;
    stride *= shape[axis];
  }
  return true;
}

Lowering::Lowering(Plan& plan, const PlanRequest& request)
    : plan_(plan),
      graph_(*plan.graph),
      request_(request),
      limits_(request.limits),
      staging_(staging(graph_)) {
  const size_t count = static_cast<size_t>(graph_.size());
  views_.resize(count);
  known_.resize(count);
  pending_.resize(count);
  uses_.resize(count);
  fused_into_.assign(count, -1);
  chain_start_.assign(count, -1);
  slope_of_.assign(count, -1);
  reflected_.assign(count, -1);
  variable_.assign(count, -1);
}

void Lowering::run() {
  for (int32_t id = 0; id < graph_.size(); ++id) {
    for (const int32_t input : graph_.node(id).inputs) ++uses_[static_cast<size_t>(input)];
  }
  for (const auto& [name, id] : request_.outputs) ++uses_[static_cast<size_t>(id)];
  for (const auto& [variable, id] : request_.updates) ++uses_[static_cast<size_t>(id)];
  find_epilogues();
  find_reflections();
  plan_.phases.resize(static_cast<size_t>(staging_.stages));
  for (phase_ = 0; phase_ < staging_.stages; ++phase_) {
    std::vector<int32_t> shared, rows;
    for (int32_t id = 0; id < graph_.size(); ++id) {
      const Node& node = graph_.node(id);
      const bool sums = sums_over_rows(node.op);
      const int32_t when = staging_.stage[static_cast<size_t>(id)] - (sums ? 1 : 0);
      if (when == phase_) (sums || is_row_local(node.shape) ? rows : shared).push_back(id);
    }
    Phase& phase = plan_.phases[static_cast<size_t>(phase_)];
    prologue_ = &phase.shared;
    emit_list(shared, phase.shared, -1);
    std::vector<Step> loads, steps;
    prologue_ = &loads;
    emit_list(rows, steps, -1);
    phase.rows = std::move(loads);
    std::move(steps.begin(), steps.end(), std::back_inserter(phase.rows));
  }
  emit_outputs();
  emit_updates();
}

// Per node the first step that needs it: elementwise nodes and views wait for their users, so that
// they join the users' group, and everything else comes in the order of recording.
std::vector<int32_t> Lowering::first_needs(const std::vector<int32_t>& nodes) const {
  std::vector<int32_t> needs(static_cast<size_t>(graph_.size()), graph_.size());
  for (size_t k = nodes.size(); k-- > 0;) {
    const int32_t id = nodes[k];
    const Node& node = graph_.node(id);
    int32_t& mine = needs[static_cast<size_t>(id)];
    const bool waits = is_elementwise(node.op) || is_view(node.op);
    if (!waits || mine == graph_.size()) mine = id;
    for (const int32_t input : node.inputs) {
      int32_t& first = needs[static_cast<size_t>(input)];
      first = std::min(first, mine);
    }
  }
  return needs;
}

// Emits nodes as their inputs become ready; what continues the open group goes first.
void Lowering::emit_list(const std::vector<int32_t>& nodes, std::vector<Step>& steps,
                         int32_t loop) {
  std::vector<Step>* const outer_steps = steps_;
  const int outer_group = open_group_;
  steps_ = &steps;
  open_group_ = -1;
  std::vector<int32_t> waiting = nodes;
  for (const int32_t id : waiting) pending_[static_cast<size_t>(id)] = true;
  const std::vector<int32_t> needed_by = first_needs(nodes);
  const auto body_of = [&](int32_t id) {
    const int32_t inner = staging_.loop[static_cast<size_t>(id)];
    return inner == loop ? -1 : inner;
  };
  const auto inputs_done = [&](int32_t id, int32_t body) {
    const Node& node = graph_.node(id);
    return std::none_of(node.inputs.begin(), node.inputs.end(), [&](int32_t input) {
      return pending_[static_cast<size_t>(input)] && (body < 0 || body_of(input) != body);
    });
  };
  const auto ready = [&](int32_t id) {
    const int32_t body = body_of(id);
    if (body < 0) return inputs_done(id, -1);
    if (graph_.node(id).op != Op::kLoopStep) return false;  // stands for the whole loop
    const Loop& it = graph_.loops()[static_cast<size_t>(body)];
    for (const int32_t start : it.initial) {
      if (pending_[static_cast<size_t>(start)]) return false;
    }
    return std::all_of(waiting.begin(), waiting.end(), [&](int32_t other) {
      return body_of(other) != body || inputs_done(other, body);
    });
  };
  while (!waiting.empty()) {
    int32_t chosen = -1;
    bool continues = false;
    for (const int32_t id : waiting) {
      const int32_t need = needed_by[static_cast<size_t>(id)];
      const int32_t best = chosen < 0 ? need : needed_by[static_cast<size_t>(chosen)];
      if (need > best || (need == best && chosen >= 0 && continues) || !ready(id)) continue;
      const bool fits = fits_open_group(id);
      if (chosen >= 0 && need == best && !fits) continue;
      chosen = id;
      continues = fits;
    }
    if (const int32_t next = following(waiting, loop); next >= 0) chosen = next;
    CHECK(chosen >= 0, "no node of {} is ready", waiting.size());
    const int32_t body = body_of(chosen);
    if (body >= 0) {
      emit_loop(body);
      std::erase_if(waiting, [&](int32_t id) { return body_of(id) == body; });
    } else {
      emit(chosen);
      pending_[static_cast<size_t>(chosen)] = false;
      std::erase(waiting, chosen);
    }
  }
  steps_ = outer_steps;
  open_group_ = outer_group;
}

void Lowering::emit(int32_t id) {
  const size_t at = static_cast<size_t>(id);
  const Node& node = graph_.node(id);
  if (fused_into_[at] >= 0) return;
  if (chain_start_[at] >= 0) {
    const bool reflects = graph_.node(chain_start_[at]).op == Op::kReflect;
    reflects ? emit_reflect(id) : emit_matmul(id);
  } else if (node.op == Op::kLoopResult || node.op == Op::kLoopState || node.op == Op::kLoopStep) {
    CHECK(known_[at], "{} before its loop", graph_.describe(id));
  } else if (node.inputs.empty()) {
    return;  // sources are looked at when they are needed
  } else if (is_view(node.op)) {
    views_[at] = derived_view(id);
    known_[at] = true;
  } else if (is_elementwise(node.op)) {
    emit_elementwise(id);
  } else {
    emit_operation(id);
  }
}

View Lowering::derived_view(int32_t id) {
  const Node& node = graph_.node(id);
  View it = view(node.inputs[0]);
  const Shape shape = feature_shape(node.shape);
  const int64_t row_axis = is_row_local(node.shape) ? 1 : 0;
  switch (node.op) {
    case Op::kStopGradient:
      return it;
    case Op::kBroadcast:
      return broadcast_view(it, shape);
    case Op::kReshape: {
      if (!it.uniform && !it.dense()) it = in_memory(it, it.rows, true);
      it.shape = shape;
      it.strides = dense_strides(shape);
      if (it.uniform) std::fill(it.strides.begin(), it.strides.end(), 0);
      return it;
    }
    case Op::kTranspose: {
      std::vector<int64_t> strides(shape.size());
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        const int64_t from = node.ints[axis + static_cast<size_t>(row_axis)] - row_axis;
        strides[axis] = it.strides[static_cast<size_t>(from)];
      }
      it.shape = shape;
      it.strides = strides;
      return it;
    }
    case Op::kSlice: {
      it.offset += node.ints[1] * it.strides[static_cast<size_t>(node.ints[0] - row_axis)];
      it.shape = shape;
      return it;
    }
    default:
      CHECK(false, "{} is no view", op_name(node.op));
  }
}

View Lowering::source_view(int32_t id) {
  const Node& node = graph_.node(id);
  const Shape shape = feature_shape(node.shape);
  const bool rows = is_row_local(node.shape);
  if (node.op == Op::kConstant && node.data.size() == 1) {
    View it{.shape = shape, .strides = std::vector<int64_t>(shape.size(), 0)};
    it.uniform = true;
    it.value = node.data[0];
    return it;
  }
  if (rows) {  // an input or a variable of the host
    View it = dense_view(new_buffer(Space::kScratch, feature_count(shape)), shape, true);
    Step load{.kind = StepKind::kLoadRows, .op = node.op, .node = id, .outputs = {it}};
    load.variable = node.op == Op::kVariable;
    if (load.variable) {
      load.index = static_cast<int32_t>(plan_.variables.size());
      plan_.variables.push_back({node.name, node.shape, false});
      variable_[static_cast<size_t>(id)] = load.index;
    } else {
      load.index = static_cast<int32_t>(plan_.inputs.size());
      plan_.inputs.push_back({.name = node.name,
                              .shape = node.shape,
                              .storage = node.storage,
                              .scale = node.data.empty() ? 1.0 : node.data[0]});
    }
    use(it);
    prologue_->push_back(std::move(load));
    return it;
  }
  const bool variable = node.op == Op::kVariable;
  View it = dense_view(
      new_buffer(variable ? Space::kVariable : Space::kShared, feature_count(shape)), shape, false);
  Buffer& buffer = plan_.buffers[static_cast<size_t>(it.buffer)];
  buffer.used = true;
  if (variable) {
    buffer.variable = static_cast<int32_t>(plan_.variables.size());
    variable_[static_cast<size_t>(id)] = buffer.variable;
    plan_.variables.push_back({node.name, node.shape, false});
  } else if (node.op == Op::kConstant) {
    plan_.constants.push_back({it.buffer, node.data});  // offsets follow with the memory
  } else if (node.op == Op::kInverseRows) {
    plan_.inverse_rows = it.buffer;
  } else {
    plan_.inputs.push_back({.name = node.name,
                            .shape = node.shape,
                            .storage = node.storage,
                            .scale = node.data.empty() ? 1.0 : node.data[0],
                            .offset = it.buffer});
  }
  return it;
}

const View& Lowering::view(int32_t id) {
  const size_t at = static_cast<size_t>(id);
  if (!known_[at]) {
    CHECK(graph_.node(id).inputs.empty(), "{} is not computed yet", graph_.describe(id));
    views_[at] = source_view(id);
    known_[at] = true;
  }
  return views_[at];
}

int32_t Lowering::new_buffer(Space space, int64_t size) {
  plan_.buffers.push_back({.space = space, .size = size, .phase = phase_});
  return static_cast<int32_t>(plan_.buffers.size()) - 1;
}

View Lowering::dense_view(int32_t buffer, const Shape& shape, bool rows) const {
  return {.buffer = buffer, .shape = shape, .strides = dense_strides(shape), .rows = rows};
}

View Lowering::new_tensor(int32_t id) {
  const Node& node = graph_.node(id);
  const bool rows = is_row_local(node.shape);
  const Shape shape = feature_shape(node.shape);
  const int32_t buffer = new_buffer(rows ? Space::kScratch : Space::kShared, feature_count(shape));
  views_[static_cast<size_t>(id)] = dense_view(buffer, shape, rows);
  known_[static_cast<size_t>(id)] = true;
  return views_[static_cast<size_t>(id)];
}

void Lowering::use(const View& it) {
  if (!it.uniform) plan_.buffers[static_cast<size_t>(it.buffer)].used = true;
}

Step& Lowering::push(Step step) {
  for (const View& input : step.inputs) use(input);
  open_group_ = -1;
  const bool followed = limits_.groups_follow && step.outputs.size() == 1 && step.outputs[0].rows &&
                        (step.op == Op::kMatmul || step.op == Op::kSum || step.op == Op::kMaximum ||
                         (limits_.images && is_image_operation(step.op)));
  if (step.kind == StepKind::kOperation && followed && step.outputs[0].dense()) {
    step.code.push_back({step.op, -1, -1, -1, step.node});
  }
  if (step.kind == StepKind::kElementwise || !step.code.empty()) {
    open_group_ = static_cast<int>(steps_->size());
  }
  steps_->push_back(std::move(step));
  return steps_->back();
}

void Lowering::copy(const View& from, const View& to) {
  use(to);
  push({.op = Op::kReshape, .inputs = {broadcast_view(from, to.shape)}, .outputs = {to}});
}

View Lowering::in_memory(const View& it, bool rows, bool dense) {
  const bool repeated = limits_.steps_along_last_axis && !it.shape.empty() && it.shape.back() > 1 &&
                        !it.uniform && it.strides.back() == 0;
  if (!it.uniform && it.rows == rows && (!dense || it.dense()) && !repeated) return it;
  const Space space = rows ? Space::kScratch : Space::kShared;
  View to = dense_view(new_buffer(space, it.count()), it.shape, rows);
  copy(it, to);
  return to;
}

bool Lowering::fits_open_group(int32_t id) const {
  const Node& node = graph_.node(id);
  if (open_group_ < 0 || !is_elementwise(node.op)) return false;
  if (fused_into_[static_cast<size_t>(id)] >= 0 || chain_start_[static_cast<size_t>(id)] >= 0) {
    return false;
  }
  const Step& group = (*steps_)[static_cast<size_t>(open_group_)];
  if (group.outputs[0].shape != feature_shape(node.shape) ||
      std::ssize(group.code) >= limits_.group_instructions ||
      group.outputs[0].rows != is_row_local(node.shape)) {
    return false;
  }
  // What follows an operation of images is of images too.
  if (group.kind == StepKind::kOperation && is_image_operation(group.op) &&
      !std::all_of(node.inputs.begin(), node.inputs.end(), [&](int32_t input) {
        const Shape& shape = graph_.node(input).shape;
        const bool moved = known_[static_cast<size_t>(input)] && is_row_local(shape) &&
                           !views_[static_cast<size_t>(input)].uniform &&
                           !views_[static_cast<size_t>(input)].dense();
        return !moved && is_of_images(shape, node.shape);
      })) {
    return false;
  }
  // A member may be read as it is, not through a view that moves its elements.
  for (const int32_t input : node.inputs) {
    if (!known_[static_cast<size_t>(input)]) continue;
    const View& it = views_[static_cast<size_t>(input)];
    for (const View& member : group.outputs) {
      const bool same = it.shape == member.shape && it.strides == member.strides && it.offset == 0;
      if (!it.uniform && it.buffer == member.buffer && !same) return false;
    }
  }
  return true;
}

void Lowering::emit_elementwise(int32_t id) {
  const Node& node = graph_.node(id);
  const Shape shape = feature_shape(node.shape);
  const bool rows = is_row_local(node.shape);
  std::vector<View> operands;
  for (const int32_t input : node.inputs) {
    View it = broadcast_view(view(input), shape);
    // Shared operands run along their last axis of more than one element.
    size_t last = shape.size();
    while (last > 0 && shape[last - 1] == 1) --last;
    const bool inner_gap = limits_.steps_along_last_axis && !rows && !it.uniform && last > 0 &&
                           it.strides[last - 1] > 1;
    if (inner_gap) it = in_memory(it, false, true);
    operands.push_back(it);
  }
  if (!fits_open_group(id)) {
    push({.kind = StepKind::kElementwise, .node = id});
  }
  Step& group = (*steps_)[static_cast<size_t>(open_group_)];
  int32_t slots[3] = {-1, -1, -1};
  for (size_t k = 0; k < operands.size(); ++k) {
    const View& it = operands[k];
    for (size_t member = 0; member < group.outputs.size() && !it.uniform; ++member) {
      if (group.outputs[member].buffer == it.buffer) {
        slots[k] = -2 - static_cast<int32_t>(member);  // instruction `member`
      }
    }
    if (slots[k] != -1) continue;
    for (size_t known = 0; known < group.inputs.size(); ++known) {
      const View& other = group.inputs[known];
      const bool same = it.uniform ? other.uniform && other.value == it.value
                                   : !other.uniform && other.buffer == it.buffer &&
                                         other.offset == it.offset && other.strides == it.strides &&
                                         other.shape == it.shape;
      if (same) slots[k] = static_cast<int32_t>(known);
    }
    if (slots[k] != -1) continue;
    use(it);
    slots[k] = static_cast<int32_t>(group.inputs.size());
    group.inputs.push_back(it);
  }
  group.code.push_back({node.op, slots[0], slots[1], slots[2], id});
  group.outputs.push_back(new_tensor(id));
}

}  // namespace agora::compute
