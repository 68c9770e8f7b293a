#include "compute/lower.h"

// What joins a product or a reflection in one step. All of it is found before the first step.
namespace agora::compute {
namespace {

bool is_activation(Op op) {
  return op == Op::kTanh || op == Op::kSigmoid || op == Op::kRelu || op == Op::kSoftplus;
}

}  // namespace

// Finds matmul -> sums -> activation where nobody else looks at what is in between.
void Lowering::find_epilogues() {
  std::vector<int32_t> user(static_cast<size_t>(graph_.size()), -1);
  for (int32_t id = 0; id < graph_.size(); ++id) {
    for (const int32_t input : graph_.node(id).inputs) user[static_cast<size_t>(input)] = id;
  }
  for (int32_t id = 0; id < graph_.size(); ++id) {
    const Node& matmul = graph_.node(id);
    if (matmul.op != Op::kMatmul || !is_row_local(matmul.shape)) continue;
    const auto only_user = [&](int32_t of) -> const Node* {
      if (!limits_.fuses_epilogues) return nullptr;
      const int32_t next = user[static_cast<size_t>(of)];
      if (uses_[static_cast<size_t>(of)] != 1 || next < 0) return nullptr;
      if (fused_into_[static_cast<size_t>(next)] >= 0) return nullptr;  // of another product
      const Node& node = graph_.node(next);
      return node.shape == matmul.shape ? &node : nullptr;
    };
    const auto step_on = [&](int32_t& at) { at = user[static_cast<size_t>(at)]; };
    // Sums before the activation: one bias, and row-local tensors, which the product starts from.
    int32_t last = id, with_addends = id;
    bool bias = false, addends = false;
    while (const Node* sum = only_user(with_addends)) {
      if (sum->op != Op::kAdd) break;
      const Node& other =
          graph_.node(sum->inputs[0] == with_addends ? sum->inputs[1] : sum->inputs[0]);
      const bool is_bias = !is_row_local(other.shape) && !other.shape.empty() &&
                           other.shape.back() == matmul.shape.back() &&
                           feature_count(other.shape) == other.shape.back() &&
                           !(other.op == Op::kConstant && other.data.size() == 1);
      if (is_bias ? bias : !is_row_local(other.shape)) break;
      (is_bias ? bias : addends) = true;
      step_on(with_addends);
      if (!addends) last = with_addends;
    }
    if (const Node* next = only_user(with_addends); next != nullptr && is_activation(next->op)) {
      last = with_addends;
      step_on(last);
    }
    for (int32_t step = id; step != last; step = user[static_cast<size_t>(step)]) {
      fused_into_[static_cast<size_t>(step)] = last;
    }
    chain_start_[static_cast<size_t>(last)] = id;
  }
}

// Finds reflect -> tanh -> reflect, and reflect -> * (1 - square(y)) -> reflect of its gradient.
void Lowering::find_reflections() {
  const auto only_one_uses = [&](int32_t id) { return uses_[static_cast<size_t>(id)] == 1; };
  const auto is = [&](int32_t id, Op op) { return graph_.node(id).op == op; };
  const auto start_of = [&](int32_t id) {
    return is(id, Op::kReflect) && only_one_uses(id) && fused_into_[static_cast<size_t>(id)] < 0;
  };
  const auto together = [&](int32_t a, int32_t b) {
    const size_t first = static_cast<size_t>(a), second = static_cast<size_t>(b);
    return staging_.stage[first] == staging_.stage[second] &&
           staging_.loop[first] == staging_.loop[second];
  };
  for (int32_t id = 0; id < graph_.size(); ++id) {
    if (!limits_.fuses_reflections) break;
    const Node& node = graph_.node(id);
    const size_t at = static_cast<size_t>(id);
    if (node.op == Op::kTanh && start_of(node.inputs[0])) {
      chain_start_[at] = node.inputs[0];
      fused_into_[static_cast<size_t>(node.inputs[0])] = id;
    } else if (node.op == Op::kMul) {
      for (size_t k = 0; k < 2; ++k) {
        const int32_t start = node.inputs[k], slope = node.inputs[1 - k];
        if (chain_start_[at] >= 0 || !start_of(start) || !is(slope, Op::kSub)) continue;
        const Node& one = graph_.node(graph_.node(slope).inputs[0]);
        const int32_t power = graph_.node(slope).inputs[1];
        const bool minus_square = one.op == Op::kConstant && one.data == std::vector<double>{1} &&
                                  is(power, Op::kSquare) && only_one_uses(slope) &&
                                  only_one_uses(power);
        if (!minus_square || graph_.node(power).shape != node.shape || !together(start, id) ||
            !together(power, id)) {
          continue;
        }
        chain_start_[at] = start;
        slope_of_[at] = graph_.node(power).inputs[0];
        for (const int32_t part : {start, slope, power}) {
          fused_into_[static_cast<size_t>(part)] = id;
        }
      }
    } else if (node.op == Op::kReflect && fused_into_[at] < 0) {
      // The reflection of the end of a chain belongs to it; others stand alone unless a later
      // node continues them.
      const size_t from = static_cast<size_t>(node.inputs[0]);
      const int32_t start = chain_start_[from];
      const bool continues = start >= 0 && start != node.inputs[0] && is(start, Op::kReflect) &&
                             graph_.node(start).ints == node.ints && reflected_[from] < 0 &&
                             together(node.inputs[0], id);
      if (!continues) continue;
      reflected_[from] = id;
      fused_into_[at] = node.inputs[0];
    }
  }
  for (int32_t id = 0; id < graph_.size(); ++id) {
    const size_t at = static_cast<size_t>(id);
    if (is(id, Op::kReflect) && fused_into_[at] < 0) chain_start_[at] = id;
  }
}

}  // namespace agora::compute
