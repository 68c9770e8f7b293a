#include "compute/images.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "compute/staging.h"

namespace agora::compute {
namespace {

constexpr int64_t kLargeProduct = 1 << 16;  // weights; smaller products are row steps
constexpr int64_t kSquare = 64;             // of which the sizes of large products are multiples

bool is_whole(const Plan& plan, const View& it) {
  return !it.uniform && it.rows && it.dense() && it.offset == 0 &&
         it.count() == plan.buffers[static_cast<size_t>(it.buffer)].size;
}

// Whether a group works on images as they lie, or on what belongs to a channel or to all; `own`
// operands are not the group's.
bool has_plain_operands(const Plan& plan, const Step& step, size_t own) {
  return std::all_of(
      step.inputs.begin() + static_cast<int64_t>(own), step.inputs.end(), [&](const View& it) {
        if (it.uniform) return true;
        if (it.rows) return is_whole(plan, it);
        const auto last = it.strides.end() - 1;
        return std::all_of(it.strides.begin(), last, [](int64_t k) { return k == 0; }) &&
               (*last == 0 || *last == 1);
      });
}

bool is_large_product(const Plan& plan, const Step& step) {
  if (step.op != Op::kMatmul && step.op != Op::kOuter) return false;
  const bool product = step.op == Op::kMatmul;
  const View &x = step.inputs[0], &other = product ? step.outputs[0] : step.inputs[1];
  if (!x.rows || !other.rows || x.shape.size() != 1 || other.shape.size() != 1) return false;
  const int64_t in = x.count(), out = other.count();
  return in % kSquare == 0 && out % kSquare == 0 && in * out >= kLargeProduct && !step.accumulate &&
         is_whole(plan, x) && (product || is_whole(plan, other)) &&
         has_plain_operands(plan, step, 2);
}

bool is_group_of_images(const Plan& plan, const Step& step) {
  if (step.kind != StepKind::kElementwise) return false;
  const Shape& shape = step.outputs[0].shape;
  return step.outputs[0].rows && shape.size() == 3 && shape[2] % 8 == 0 &&
         has_plain_operands(plan, step, 0);
}

class Cut {
 public:
  explicit Cut(Plan& plan) : plan_(plan) {}

  void run() {
    phases_ = std::exchange(plan_.phases, {});
    read_inputs();
    sum_biases();
    for (Phase& phase : phases_) {
      steps_ = std::move(phase.rows);
      find_images();
      join_groups();
      plan_.phases.push_back({.shared = std::move(phase.shared), .rows = {}});
      distribute();
    }
    for (Phase& phase : plan_.phases) copy_at_the_border(phase);
  }

 private:
  Buffer& buffer(const View& it) { return plan_.buffers[static_cast<size_t>(it.buffer)]; }
  bool touches_images(const Step& step) {
    const auto is_image = [&](const View& it) {
      return !it.uniform && it.buffer >= 0 && it.rows && buffer(it).space == Space::kImage;
    };
    return std::any_of(step.inputs.begin(), step.inputs.end(), is_image) ||
           std::any_of(step.outputs.begin(), step.outputs.end(), is_image);
  }

  // Says of each step of a phase whether it is one of images.
  void find_images() {
    for (size_t k = 0; k < steps_.size(); ++k) {  // operands that are part of something larger
      if (!is_image_operation(steps_[k].op) || steps_[k].kind != StepKind::kOperation) continue;
      for (size_t input = 0; input < 2 && input < steps_[k].inputs.size(); ++input) {
        const View it = steps_[k].inputs[input];
        if (!it.rows || is_whole(plan_, it)) continue;
        View whole = it;
        whole.buffer = new_scratch(it.count());
        whole.offset = 0;
        steps_[k].inputs[input] = whole;
        steps_.insert(steps_.begin() + static_cast<int64_t>(k++),
                      {.op = Op::kReshape, .inputs = {it}, .outputs = {whole}});
      }
    }
    is_image_.assign(steps_.size(), false);
    for (size_t k = 0; k < steps_.size(); ++k) {
      const Step& step = steps_[k];
      const bool image = step.kind == StepKind::kOperation &&
                         (is_image_operation(step.op) || is_large_product(plan_, step));
      if (image) take(k);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = 0; k < steps_.size(); ++k) {
        if (is_image_[k] || !touches_images(steps_[k]) || !is_group_of_images(plan_, steps_[k])) {
          continue;
        }
        take(k);
        changed = true;
      }
    }
  }

  void take(size_t k) {
    is_image_[k] = true;
    const Step& step = steps_[k];
    for (const View& it : step.inputs) {
      const bool read_elsewhere = step.index >= 0 && &it == &step.inputs[0];
      if (!it.uniform && it.rows && !read_elsewhere) buffer(it).space = Space::kImage;
    }
    for (const View& it : step.outputs) {
      if (it.buffer >= 0 && it.rows) buffer(it).space = Space::kImage;
    }
  }

  std::vector<Step*> readers(int32_t id) {
    std::vector<Step*> found;
    for (Phase& phase : phases_) {
      for (Step& step : phase.rows) {
        if (std::any_of(step.inputs.begin(), step.inputs.end(),
                        [&](const View& it) { return !it.uniform && it.buffer == id; })) {
          found.push_back(&step);
        }
      }
    }
    return found;
  }

  // Images of few channels are read from the input itself.
  void read_inputs() {
    for (Phase& phase : phases_) {
      std::erase_if(phase.rows, [&](const Step& load) {
        if (load.kind != StepKind::kLoadRows || load.variable) return false;
        const int32_t loaded = load.outputs[0].buffer;
        const std::vector<Step*> by = readers(loaded);
        const bool can = std::all_of(by.begin(), by.end(), [&](const Step* step) {
          return step->kind == StepKind::kOperation &&
                 (step->op == Op::kConv || step->op == Op::kConvWeight) &&
                 step->inputs[0].buffer == loaded && image_band(step->inputs[0].shape, 1).narrow &&
                 is_whole(plan_, step->inputs[0]);
        });
        if (!can || by.empty()) return false;
        for (Step* step : by) step->index = load.index;
        return true;
      });
    }
  }

  // The gradient by a bias, a sum over positions and rows of the slopes that the gradient by the
  // weights reads too, is a second result of that step.
  void sum_biases() {
    for (Phase& phase : phases_) {
      std::set<const Step*> gone;
      for (Step& weights : phase.rows) {
        if (weights.kind != StepKind::kOperation || weights.op != Op::kConvWeight) continue;
        for (const Step* over_positions : readers(weights.inputs[1].buffer)) {
          const Step& it = *over_positions;
          const bool sums = it.kind == StepKind::kOperation && it.op == Op::kSum && it.scale == 1 &&
                            it.ints == std::vector<int64_t>{0, 1} && it.code.size() <= 1 &&
                            is_whole(plan_, it.inputs[0]) && it.inputs[0].shape.size() == 3;
          if (!sums) continue;
          const std::vector<Step*> over_rows = readers(it.outputs[0].buffer);
          const bool alone = over_rows.size() == 1 && over_rows[0]->op == Op::kSumRows &&
                             over_rows[0]->kind == StepKind::kOperation &&
                             is_whole(plan_, over_rows[0]->inputs[0]);
          if (!alone || weights.outputs.size() > 1) continue;
          weights.outputs.push_back(over_rows[0]->outputs[0]);
          gone.insert({over_positions, over_rows[0]});
        }
      }
      std::vector<Step> left;
      for (Step& step : phase.rows) {
        if (gone.count(&step) == 0) left.push_back(std::move(step));
      }
      phase.rows = std::move(left);
    }
  }

  // A group that is all that reads an operation's result joins it, if its other operands are there.
  void join_groups() {
    for (size_t k = 0; k < steps_.size(); ++k) {
      if (!is_image_[k] || steps_[k].kind != StepKind::kElementwise) continue;
      for (size_t of = k; of-- > 0;) {
        if (!is_image_[of] || !can_join(of, k)) continue;
        join(steps_[of], steps_[k]);
        steps_.erase(steps_.begin() + static_cast<int64_t>(k));
        is_image_.erase(is_image_.begin() + static_cast<int64_t>(k--));
        break;
      }
    }
  }
  bool can_join(size_t of, size_t k) {
    const Step &operation = steps_[of], &group = steps_[k];
    if (operation.kind != StepKind::kOperation || operation.code.size() != 1) return false;
    const int32_t result = operation.outputs[0].buffer;
    if (operation.outputs[0].count() != group.outputs[0].count()) return false;
    bool reads = false;
    for (const View& it : group.inputs) {
      if (it.uniform) continue;
      reads = reads || it.buffer == result;
      const bool shaped = operation.outputs[0].shape == group.outputs[0].shape;
      if (!it.rows && it.strides.back() != 0 && !shaped) return false;
      for (size_t between = of + 1; between < k; ++between) {
        for (const View& made : steps_[between].outputs) {
          if (made.buffer == it.buffer) return false;
        }
      }
    }
    if (!reads) return false;
    int64_t here = 0;
    for (const Step& step : steps_) {
      here += std::any_of(step.inputs.begin(), step.inputs.end(),
                          [&](const View& it) { return !it.uniform && it.buffer == result; });
    }
    return here == 1 && readers(result).empty();
  }
  static void join(Step& operation, Step& group) {
    const int32_t result = operation.outputs[0].buffer;
    const int32_t inputs = static_cast<int32_t>(operation.inputs.size());
    const auto moved = [&](int32_t slot) -> int32_t {  // the operation is instruction 0
      if (slot == -1) return -1;
      if (slot <= -2) return slot - 1;
      const View& it = group.inputs[static_cast<size_t>(slot)];
      return !it.uniform && it.buffer == result ? -2 : slot + inputs;
    };
    for (const Instruction& it : group.code) {
      operation.code.push_back({it.op, moved(it.a), moved(it.b), moved(it.c), it.node});
    }
    operation.inputs.insert(operation.inputs.end(), group.inputs.begin(), group.inputs.end());
    for (size_t k = static_cast<size_t>(inputs); k < operation.inputs.size(); ++k) {
      View& it = operation.inputs[k];
      if (!it.uniform && it.buffer == result) it = {.uniform = true};
    }
    operation.outputs[0].buffer = -1;
    operation.outputs.insert(operation.outputs.end(), group.outputs.begin(), group.outputs.end());
  }

  // Row steps as long as there are any that wait for no image step, then the reverse, and so on.
  void distribute() {
    std::vector<bool> done(steps_.size());
    const auto writes_or_reads = [](const Step& step, int32_t id, bool& reads, bool& writes) {
      for (const View& it : step.inputs) reads = reads || (!it.uniform && it.buffer == id);
      for (const View& it : step.outputs) writes = writes || it.buffer == id;
    };
    const auto waits_for = [&](const Step& later, const Step& earlier) {
      const auto conflict = [&](const View& it, bool is_written) {
        if (it.uniform || it.buffer < 0) return false;
        bool reads = false, writes = false;
        writes_or_reads(earlier, it.buffer, reads, writes);
        return writes || (is_written && reads);
      };
      return std::any_of(later.inputs.begin(), later.inputs.end(),
                         [&](const View& it) { return conflict(it, false); }) ||
             std::any_of(later.outputs.begin(), later.outputs.end(),
                         [&](const View& it) { return conflict(it, true); });
    };
    const auto ready = [&](size_t k) {
      for (size_t before = 0; before < k; ++before) {
        if (!done[before] && waits_for(steps_[k], steps_[before])) return false;
      }
      return true;
    };
    size_t left = steps_.size();
    while (left > 0) {
      for (const bool image : {false, true}) {
        for (size_t k = 0; k < steps_.size(); ++k) {
          if (done[k] || is_image_[k] != image || !ready(k)) continue;
          Phase& phase = plan_.phases.back();
          (image ? phase.images : phase.rows).push_back(steps_[k]);
          done[k] = true;
          --left;
        }
      }
      if (left > 0) plan_.phases.emplace_back();
    }
  }

  // Row steps see images as tiles of their own.
  void copy_at_the_border(Phase& phase) {
    std::map<int32_t, int32_t> tile_of;
    std::vector<Step> first, last;
    const auto flat = [&](int32_t id) {
      return View{.buffer = id,
                  .shape = {plan_.buffers[static_cast<size_t>(id)].size},
                  .strides = {1},
                  .rows = true};
    };
    const auto exchange = [&](View& it, bool writes) {
      if (it.uniform || it.buffer < 0 || !it.rows || buffer(it).space != Space::kImage) return;
      const int32_t image = it.buffer;
      const auto [known, fresh] = tile_of.try_emplace(image, -1);
      if (fresh) known->second = new_scratch(buffer(it).size);
      it.buffer = known->second;
      if (writes) {
        last.push_back(
            {.op = Op::kReshape, .inputs = {flat(known->second)}, .outputs = {flat(image)}});
      } else if (fresh) {
        first.push_back(
            {.op = Op::kReshape, .inputs = {flat(image)}, .outputs = {flat(known->second)}});
      }
    };
    for (Step& step : phase.rows) {
      for (View& it : step.inputs) exchange(it, false);
      for (View& it : step.outputs) exchange(it, true);
    }
    phase.rows.insert(phase.rows.begin(), first.begin(), first.end());
    phase.rows.insert(phase.rows.end(), last.begin(), last.end());
  }

  int32_t new_scratch(int64_t size) {
    plan_.buffers.push_back({.space = Space::kScratch, .size = size, .used = true});
    return static_cast<int32_t>(plan_.buffers.size()) - 1;
  }

  Plan& plan_;
  std::vector<Phase> phases_;  // as they were
  std::vector<Step> steps_;    // of the phase that is cut
  std::vector<bool> is_image_;
};

}  // namespace

void cut_images(Plan& plan) { Cut(plan).run(); }

}  // namespace agora::compute
