#include <algorithm>

#include "base/error.h"
#include "compute/lower.h"

namespace agora::compute {

// A matmul with the bias and activation that end in node `id`.
void Lowering::emit_matmul(int32_t id) {
  const int32_t start = chain_start_[static_cast<size_t>(id)];
  const Node& product = graph_.node(start);
  const View x = in_memory(view(product.inputs[0]), true, false);
  const View w = in_memory(view(product.inputs[1]), false, false);
  Step step{.op = Op::kMatmul, .node = id, .inputs = {x, w}};
  std::vector<View> addends;
  int32_t previous = start;
  for (int32_t next = start; next != id;) {
    // Chain nodes follow each other as only users; find the next one by its input.
    int32_t user = next + 1;
    while (std::find(graph_.node(user).inputs.begin(), graph_.node(user).inputs.end(), next) ==
           graph_.node(user).inputs.end()) {
      ++user;
    }
    previous = next;
    next = user;
    const Node& node = graph_.node(next);
    if (node.op == Op::kAdd) {
      const int32_t other = node.inputs[0] == previous ? node.inputs[1] : node.inputs[0];
      if (is_row_local(graph_.node(other).shape)) {
        addends.push_back(view(other));
        continue;
      }
      View bias = in_memory(view(other), false, true);
      bias.shape = {bias.count()};
      bias.strides = {1};
      step.inputs.push_back(bias);
      step.bias = true;
    } else {
      step.activation = node.op;
    }
  }
  const View y = new_tensor(id);
  step.outputs = {y};
  step.accumulate = !addends.empty();
  if (step.accumulate) push(sum_of(addends, y, id));
  push(std::move(step));
}

// Up to four products, each of a block of x into the same block of the result.
void Lowering::emit_block_matmul(int32_t id) {
  const Node& node = graph_.node(id);
  const View x = in_memory(view(node.inputs[0]), true, false);
  std::vector<View> weights;
  for (size_t k = 1; k < node.inputs.size(); ++k) {
    weights.push_back(in_memory(view(node.inputs[k]), false, k == 5));
  }
  const View y = new_tensor(id);
  const auto block = [](View it, size_t k) {
    const size_t row_axis = it.shape.size() - 3, column_axis = it.shape.size() - 2;
    for (const auto& [axis, rest] : {std::pair{row_axis, k >= 2}, {column_axis, k % 2 == 1}}) {
      if (rest) it.offset += it.strides[axis];
      it.shape[axis] = rest ? it.shape[axis] - 1 : 1;
    }
    return it;
  };
  for (size_t k = 0; k < 4; ++k) {
    const View from = block(x, k);
    if (from.count() == 0) continue;
    Step step{.op = Op::kMatmul, .node = id, .inputs = {from, weights[k]}};
    step.outputs = {block(y, k)};
    step.bias = k == 0 && weights.size() == 5;
    if (step.bias) step.inputs.push_back(weights[4]);
    push(std::move(step));
  }
}

// One pass: reflect; tanh, or times the slope 1 - y^2 of a tanh; reflect again.
void Lowering::emit_reflect(int32_t id) {
  const size_t at = static_cast<size_t>(id);
  const Node& start = graph_.node(chain_start_[at]);
  Step step{.op = Op::kReflect, .node = id, .ints = start.ints};
  for (int64_t& axis : step.ints) --axis;  // feature axes from here on
  step.inputs.push_back(in_memory(view(start.inputs[0]), true, true));
  if (slope_of_[at] >= 0) {
    step.inputs.push_back(in_memory(view(slope_of_[at]), true, true));
  } else if (chain_start_[at] != id) {
    step.activation = Op::kTanh;
  }
  step.outputs.push_back(new_tensor(id));
  if (reflected_[at] >= 0) {
    step.outputs.push_back(new_tensor(reflected_[at]));
    if (uses_[at] == 1) step.outputs[0].buffer = -1;  // only the reflection reads it
  }
  push(std::move(step));
}

// A group that writes the sum of views, each repeated to the shape of `to`.
Step Lowering::sum_of(const std::vector<View>& terms, const View& to, int32_t node) {
  Step group{.kind = StepKind::kElementwise, .node = node};
  for (const View& term : terms) group.inputs.push_back(broadcast_view(term, to.shape));
  group.code.push_back(
      {terms.size() == 1 ? Op::kReshape : Op::kAdd, 0, terms.size() == 1 ? -1 : 1, -1, node});
  for (size_t k = 2; k < terms.size(); ++k) {
    const int32_t sum_so_far = -2 - static_cast<int32_t>(k - 2);
    group.code.push_back({Op::kAdd, sum_so_far, static_cast<int32_t>(k), -1, node});
  }
  View unused = to;
  unused.buffer = -1;
  group.outputs.assign(group.code.size(), unused);
  group.outputs.back() = to;
  use(to);
  return group;
}

void Lowering::emit_concat(int32_t id) {
  const Node& node = graph_.node(id);
  const size_t axis = static_cast<size_t>(node.ints[0] - (is_row_local(node.shape) ? 1 : 0));
  std::vector<View> parts;
  for (const int32_t input : node.inputs) parts.push_back(view(input));
  View to = new_tensor(id);
  if (node.op == Op::kPad && limits_.pads_at_once) {
    push({.op = Op::kPad,
          .node = id,
          .inputs = {parts[0]},
          .outputs = {to},
          .ints = {static_cast<int64_t>(axis), node.ints[1]}});
    return;
  }
  if (node.op == Op::kPad) {
    use(to);
    push({.op = Op::kConstant, .node = id, .outputs = {to}});
    to.offset += node.ints[1] * to.strides[axis];
  }
  for (const View& part : parts) {
    View target = to;
    target.shape = part.shape;
    copy(part, target);
    to.offset += part.shape[axis] * to.strides[axis];
  }
}

void Lowering::emit_operation(int32_t id) {
  const Node& node = graph_.node(id);
  const bool rows = is_row_local(node.shape);
  Step step{.op = node.op, .node = id, .ints = node.ints};
  const auto take = [&](size_t k, bool with_rows, bool dense) {
    step.inputs.push_back(in_memory(view(node.inputs[k]), with_rows, dense));
  };
  switch (node.op) {
    case Op::kBlockMatmul:
      emit_block_matmul(id);
      return;
    case Op::kConcat:
    case Op::kPad:
      emit_concat(id);
      return;
    case Op::kSum:
      if (!node.data.empty()) step.scale = node.data[0];
      [[fallthrough]];
    case Op::kMaximum:
    case Op::kSoftmax:
    case Op::kLogSoftmax:
      take(0, rows, false);
      if (rows) {
        for (int64_t& axis : step.ints) --axis;  // feature axes from here on
      }
      break;
    case Op::kMatmul:  // of shared tensors; row-local ones are chains
      take(0, false, false);
      take(1, false, false);
      break;
    case Op::kGather:
      take(0, false, true);
      take(1, true, true);
      break;
    case Op::kOneHot:
    case Op::kPool:
      take(0, true, true);
      break;
    case Op::kSumRows:
      take(0, true, false);
      break;
    case Op::kOuter:
      take(0, true, false);
      take(1, true, false);
      break;
    case Op::kScatter:
    case Op::kConvWeight:
    case Op::kPoolGradient:
      take(0, true, true);
      take(1, true, true);
      break;
    case Op::kConv:
    case Op::kConvInput:
      take(0, true, true);
      take(1, false, true);
      break;
    default:
      CHECK(false, "{} cannot be lowered", graph_.describe(id));
  }
  step.outputs = {new_tensor(id)};
  push(std::move(step));
}

void Lowering::emit_loop(int32_t number) {
  const Loop& loop = graph_.loops()[static_cast<size_t>(number)];
  std::vector<View> states;
  for (size_t k = 0; k < loop.state.size(); ++k) {
    const View start = view(loop.initial[k]);
    const View state = new_tensor(loop.state[k]);
    copy(start, state);
    states.push_back(state);
  }
  std::vector<int32_t> body;
  for (int32_t id = 0; id < graph_.size(); ++id) {
    if (staging_.loop[static_cast<size_t>(id)] == number) body.push_back(id);
  }
  Step step{.kind = StepKind::kLoop, .node = loop.step, .outputs = {new_tensor(loop.step)}};
  use(step.outputs[0]);
  step.times = loop.times;
  emit_list(body, step.body, number);

  // All next states are computed before the first state changes.
  std::vector<Step>* const outer = steps_;
  steps_ = &step.body;
  std::vector<View> next;
  for (size_t k = 0; k < states.size(); ++k) {
    View it = view(loop.next[k]);
    for (size_t other = 0; other < states.size(); ++other) {
      if (!it.uniform && it.buffer == states[other].buffer && loop.next[k] != loop.state[k]) {
        const View fresh = dense_view(new_buffer(Space::kScratch, it.count()), it.shape, true);
        copy(it, fresh);
        it = fresh;
      }
    }
    next.push_back(it);
  }
  for (size_t k = 0; k < states.size(); ++k) {
    if (loop.next[k] != loop.state[k]) copy(next[k], states[k]);
    if (loop.result[k] < 0) continue;
    views_[static_cast<size_t>(loop.result[k])] = states[k];
    known_[static_cast<size_t>(loop.result[k])] = true;
  }
  steps_ = outer;
  for (const int32_t id : body) pending_[static_cast<size_t>(id)] = false;
  push(std::move(step));
}

void Lowering::emit_outputs() {
  for (const auto& [name, id] : request_.outputs) {
    const Node& node = graph_.node(id);
    PlannedOutput output{.name = name, .shape = node.shape, .view = {}};
    phase_ = staging_.stage[static_cast<size_t>(id)];
    Phase& phase = plan_.phases[static_cast<size_t>(phase_)];
    const bool rows = is_row_local(node.shape);
    steps_ = rows ? &phase.rows : &phase.shared;
    prologue_ = steps_;
    open_group_ = -1;
    View it = view(id);
    if (rows) {
      if (it.uniform || !it.rows) it = in_memory(it, true, true);
      Step store{.kind = StepKind::kStoreRows, .op = node.op, .node = id, .inputs = {it}};
      store.index = static_cast<int32_t>(plan_.outputs.size());
      push(std::move(store));
    } else {
      // A copy of what is not a plain shared buffer, so that nothing overwrites it.
      const bool plain = !it.uniform && it.dense() && it.offset == 0 &&
                         plan_.buffers[static_cast<size_t>(it.buffer)].space == Space::kShared;
      if (!plain) {
        const View to = dense_view(new_buffer(Space::kShared, it.count()), it.shape, false);
        copy(it, to);
        it = to;
      }
      use(it);
      output.view = it;
    }
    plan_.outputs.push_back(std::move(output));
  }
}

void Lowering::emit_updates() {
  for (const auto& [target, id] : request_.updates) {
    const Node& variable = graph_.node(target);
    CHECK(variable.op == Op::kVariable, "{} is assigned to", graph_.describe(target));
    const Node& node = graph_.node(id);
    const bool rows = is_row_local(variable.shape);
    phase_ = staging_.stage[static_cast<size_t>(id)];
    Phase& phase = plan_.phases[static_cast<size_t>(phase_)];
    steps_ = rows ? &phase.rows : &phase.shared;
    prologue_ = steps_;
    open_group_ = -1;
    view(target);
    const int32_t index = variable_[static_cast<size_t>(target)];
    plan_.variables[static_cast<size_t>(index)].updated = true;
    View it = view(id);
    if (rows) {
      if (it.uniform || !it.rows) it = in_memory(it, true, true);
      Step store{.kind = StepKind::kStoreRows, .op = node.op, .node = id, .inputs = {it}};
      store.index = index;
      store.variable = true;
      push(std::move(store));
      continue;
    }
    // Where the value has a buffer of its own, that becomes the variable's next memory.
    Buffer* const own = it.uniform ? nullptr : &plan_.buffers[static_cast<size_t>(it.buffer)];
    const bool output =
        std::any_of(plan_.outputs.begin(), plan_.outputs.end(),
                    [&](const PlannedOutput& other) { return other.view.buffer == it.buffer; });
    const bool computed = is_elementwise(node.op);
    if (own != nullptr && computed && !output && own->space == Space::kShared && it.dense() &&
        own->size == it.count()) {
      own->space = Space::kNextVariable;
      own->variable = index;
      own->used = true;
      continue;
    }
    const int32_t buffer = new_buffer(Space::kNextVariable, it.count());
    plan_.buffers[static_cast<size_t>(buffer)].variable = index;
    copy(it, dense_view(buffer, it.shape, false));
  }
}

}  // namespace agora::compute
