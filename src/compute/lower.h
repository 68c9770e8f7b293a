#pragma once
#include "compute/plan.h"
#include "compute/staging.h"

namespace agora::compute {

// Products of rows with so many weights take a while.
constexpr int64_t kWideProduct = 2048;

// Turns the nodes of a plan's graph into steps: views cost nothing, elementwise chains of one
// shape become one group, what a device does in one step is joined (fuse.cpp).
class Lowering {
 public:
  Lowering(Plan& plan, const PlanRequest& request);
  void run();

 private:
  void find_epilogues();
  void find_reflections();
  std::vector<int32_t> first_needs(const std::vector<int32_t>& nodes) const;
  void emit_list(const std::vector<int32_t>& nodes, std::vector<Step>& steps, int32_t loop);
  void emit(int32_t id);
  void emit_loop(int32_t loop);
  void emit_elementwise(int32_t id);
  void emit_matmul(int32_t id);
  void emit_block_matmul(int32_t id);
  void emit_reflect(int32_t id);
  void emit_concat(int32_t id);
  void emit_operation(int32_t id);
  void emit_outputs();
  void emit_updates();
  bool fits_open_group(int32_t id) const;
  int32_t following(const std::vector<int32_t>& waiting, int32_t loop) const;

  View source_view(int32_t id);
  View derived_view(int32_t id);
  const View& view(int32_t id);
  View dense_view(int32_t buffer, const Shape& shape, bool rows) const;
  int32_t new_buffer(Space space, int64_t size);
  View new_tensor(int32_t id);
  // A view with memory whose lanes are rows (or not), copied where it has none or is not dense.
  View in_memory(const View& it, bool rows, bool dense);
  Step& push(Step step);
  void copy(const View& from, const View& to);
  Step sum_of(const std::vector<View>& terms, const View& to, int32_t node);
  void use(const View& it);

  Plan& plan_;
  const Graph& graph_;
  const PlanRequest& request_;
  const PlanLimits& limits_;
  Staging staging_;
  std::vector<View> views_;
  std::vector<bool> known_;    // views_ is filled
  std::vector<bool> pending_;  // in the list being emitted, not done yet
  std::vector<int32_t> uses_;
  std::vector<int32_t> fused_into_;   // a matmul or its bias: the last node of the chain
  std::vector<int32_t> chain_start_;  // the last node of a chain: its matmul or reflection
  std::vector<int32_t> slope_of_;     // the last node of a chain: the tanh it takes the slope of
  std::vector<int32_t> reflected_;    // the last node of a chain: its reflection
  std::vector<int32_t> variable_;     // per node: index in plan.variables
  std::vector<Step>* steps_ = nullptr;
  std::vector<Step>* prologue_ = nullptr;
  int open_group_ = -1;         // position in *steps_
  bool wide_products_ = false;  // of rows; some
  int32_t phase_ = 0;
};

// The view with its axes aligned at the end of `shape` and repeated where it has size 1.
View broadcast_view(View it, const Shape& shape);

// Gives every buffer its place: live ranges decide who shares memory; shared tensors start on
// multiples of `alignment` elements; scratch of up to `room`, or `most` where that is too little,
// may be used to keep them apart. In memory.cpp.
void assign_memory(Plan& plan, int64_t alignment, int64_t room, int64_t most, int64_t stack_bytes);

}  // namespace agora::compute
