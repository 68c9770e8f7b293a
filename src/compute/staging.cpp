#include "compute/staging.h"

#include <algorithm>

#include "base/error.h"
#include "compute/operation.h"

namespace agora::compute {

bool sums_over_rows(Op op) { return operation(op).sums_rows; }

namespace {

std::vector<int32_t> loop_of_nodes(const Graph& graph) {
  std::vector<int32_t> loop(static_cast<size_t>(graph.size()), -1);
  for (int32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    int32_t& mine = loop[static_cast<size_t>(id)];
    if (node.op == Op::kLoopState || node.op == Op::kLoopStep) {
      mine = static_cast<int32_t>(node.ints[0]);
      continue;
    }
    for (const int32_t input : node.inputs) {
      const int32_t inner = loop[static_cast<size_t>(input)];
      if (inner < 0 || (node.op == Op::kLoopResult && inner == node.ints[0])) continue;
      if (mine >= 0 && mine != inner) {
        throw user_error("repeat: {} mixes two loops; a loop inside a loop is not supported",
                         graph.describe(id));
      }
      mine = inner;
      if (node.op == Op::kLoopResult) {
        throw user_error("repeat: a loop inside a loop is not supported");
      }
    }
    if (mine >= 0 && (sums_over_rows(node.op) || !is_row_local(node.shape))) {
      throw user_error("repeat: {} in the body is not row-local", graph.describe(id));
    }
  }
  return loop;
}

// Whether computing a node later costs no more memory than keeping its value: shared tensors,
// views, and functions of one row-local tensor.
bool may_wait(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || sums_over_rows(node.op) || node.op == Op::kLoopResult) return false;
  if (!is_row_local(node.shape)) return true;
  int32_t only = -1;
  for (const int32_t input : node.inputs) {
    if (!is_row_local(graph.node(input).shape)) continue;
    if (only >= 0 && input != only) return false;
    only = input;
  }
  return is_elementwise(node.op) || is_view(node.op);
}

// Moves what can wait to the phase of its first use, where it may join its user's group.
void delay(const Graph& graph, Staging& result) {
  std::vector<int32_t> needed(static_cast<size_t>(graph.size()), result.stages);
  for (int32_t id = graph.size() - 1; id >= 0; --id) {
    const size_t at = static_cast<size_t>(id);
    const Node& node = graph.node(id);
    if (result.loop[at] < 0 && needed[at] < result.stages && may_wait(graph, node)) {
      result.stage[at] = std::max(result.stage[at], needed[at]);
    }
    const int32_t when = result.stage[at] - (sums_over_rows(node.op) ? 1 : 0);
    for (const int32_t input : node.inputs) {
      int32_t& first = needed[static_cast<size_t>(input)];
      first = std::min(first, when);
    }
  }
}

}  // namespace

bool is_view(Op op) { return operation(op).family == Family::kView; }

Staging staging(const Graph& graph) {
  Staging result;
  result.loop = loop_of_nodes(graph);
  result.stage.assign(static_cast<size_t>(graph.size()), 0);
  const auto stage_of = [&](int32_t id) -> int32_t& {
    return result.stage[static_cast<size_t>(id)];
  };
  for (int32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    for (const int32_t input : node.inputs) {
      stage_of(id) = std::max(stage_of(id), stage_of(input));
    }
    if (sums_over_rows(node.op)) ++stage_of(id);
  }
  // A loop runs as a whole: its body moves to the stage of its results.
  for (int32_t id = 0; id < graph.size(); ++id) {
    const int32_t loop = result.loop[static_cast<size_t>(id)];
    if (loop < 0) continue;
    for (const int32_t end : graph.loops()[static_cast<size_t>(loop)].result) {
      if (end >= 0) stage_of(id) = stage_of(end);
    }
  }
  for (const int32_t stage : result.stage) result.stages = std::max(result.stages, stage + 1);
  delay(graph, result);
  return result;
}

}  // namespace agora::compute
