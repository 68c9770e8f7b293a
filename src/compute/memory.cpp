#include <algorithm>
#include <map>

#include "base/error.h"
#include "compute/image_stacks.h"
#include "compute/images.h"
#include "compute/lower.h"

namespace agora::compute {
namespace {

// Follows the row steps of a phase and records when each scratch buffer lives.
class Liveness {
 public:
  Liveness(Plan& plan, int32_t phase) : plan_(plan), phase_(phase) {}

  void walk(std::vector<Step>& steps, int32_t loop_begin) {
    for (Step& step : steps) {
      if (step.kind == StepKind::kLoop) {
        const int32_t begin = ++position_;
        touch(step.outputs[0], loop_begin);
        const size_t mark = inside_.size();
        walk(step.body, begin);
        ++position_;
        for (size_t k = mark; k < inside_.size(); ++k) {  // used in every round
          Buffer& buffer = buffer_of(inside_[k]);
          buffer.last = std::max(buffer.last, position_);
        }
        if (loop_begin < 0) inside_.clear();
        continue;
      }
      ++position_;
      for (const View& input : step.inputs) touch(input, loop_begin);
      for (const View& output : step.outputs) touch(output, loop_begin);
      touch_inner(step.body, loop_begin);
    }
  }

 private:
  Buffer& buffer_of(int32_t id) { return plan_.buffers[static_cast<size_t>(id)]; }

  void touch_inner(const std::vector<Step>& steps, int32_t loop_begin) {
    for (const Step& inner : steps) {
      for (const View& input : inner.inputs) touch(input, loop_begin);
      touch_inner(inner.body, loop_begin);
    }
  }

  void touch(const View& it, int32_t loop_begin) {
    if (it.uniform || it.buffer < 0 || !it.rows) return;
    Buffer& buffer = buffer_of(it.buffer);
    if (buffer.space == Space::kImage) return;
    if (buffer.first == 0) {
      buffer.first = position_;
      buffer.phase = phase_;
    } else if (buffer.phase != phase_) {
      buffer.across_phases = true;
    }
    buffer.last = std::max(buffer.last, position_);
    if (loop_begin >= 0 && buffer.first <= loop_begin) inside_.push_back(it.buffer);
  }

  Plan& plan_;
  int32_t phase_;
  int32_t position_ = 0;
  std::vector<int32_t> inside_;
};

// Lets buffers whose lives do not overlap share memory: the largest first, each at the lowest
// place that is free during its life.
int64_t pack_tightly(std::vector<Buffer*> buffers) {
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const Buffer* a, const Buffer* b) { return a->size > b->size; });
  std::vector<const Buffer*> placed;  // by offset
  int64_t total = 0;
  for (Buffer* buffer : buffers) {
    int64_t at = 0;
    for (const Buffer* other : placed) {
      if (other->last < buffer->first || buffer->last < other->first) continue;
      if (other->offset - at >= buffer->size) break;
      at = std::max(at, other->offset + other->size);
    }
    buffer->offset = at;
    total = std::max(total, at + buffer->size);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), buffer,
                         [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; }),
        buffer);
  }
  return total;
}

// Lets buffers keep their memory a while longer than they live, as far as there is room; those that
// need more than the room in any case get the most.
int64_t pack(const std::vector<Buffer*>& buffers, int64_t room, int64_t most) {
  std::vector<int32_t> last;
  for (const Buffer* buffer : buffers) last.push_back(buffer->last);
  int64_t total = 0;
  for (const int64_t limit : {room, most}) {
    for (const int32_t longer : {1 << 20, 64, 32, 16, 8, 4, 0}) {
      if (longer > 0 && room == 0) continue;
      for (size_t k = 0; k < buffers.size(); ++k) buffers[k]->last = last[k] + longer;
      total = pack_tightly(buffers);
      if (total <= limit) return total;
    }
  }
  return total;
}

void drop_unused(Plan& plan, std::vector<Step>& steps) {
  for (Step& step : steps) {
    drop_unused(plan, step.body);
    if (step.code.empty()) continue;
    for (View& output : step.outputs) {
      const bool none = output.buffer < 0;
      if (!none && !plan.buffers[static_cast<size_t>(output.buffer)].used) output.buffer = -1;
    }
  }
}

// Images live from the first phase or step of images that touches them to the last; a stack is one
// step, and what is inside it has no place. What a step reads that goes aside stays to the end of
// its phase.
void place_images(Plan& plan) {
  const std::vector<bool> inside = inside_stacks(plan);
  int32_t position = 0, stack = 0;
  std::vector<Buffer*> buffers;
  const auto touch = [&](const std::vector<View>& views) {
    for (const View& it : views) {
      if (it.uniform || it.buffer < 0) continue;
      Buffer& buffer = plan.buffers[static_cast<size_t>(it.buffer)];
      if (buffer.space != Space::kImage || inside[static_cast<size_t>(it.buffer)]) continue;
      if (buffer.first == 0) {
        buffer.first = position;
        buffer.size = (buffer.size + 7) / 8 * 8;
        buffers.push_back(&buffer);
      }
      buffer.last = std::max(buffer.last, position);
    }
  };
  for (const Phase& phase : plan.phases) {
    ++position;
    for (const Step& step : phase.rows) {
      touch(step.inputs);
      touch(step.outputs);
    }
    int32_t latest = position + static_cast<int32_t>(phase.images.size());
    for (const Step& step : phase.images) {
      if (step.stack == 0 || step.stack != stack) ++position;
      stack = step.stack;
      touch(step.inputs);
      touch(step.outputs);
      if (!goes_aside(step)) continue;
      std::swap(position, latest);
      touch(step.inputs);
      std::swap(position, latest);
    }
  }
  plan.image_features = pack_tightly(std::move(buffers));
}

}  // namespace

void assign_memory(Plan& plan, int64_t alignment, int64_t room, int64_t most, int64_t stack_bytes) {
  const auto aligned = [=](int64_t size) { return (size + alignment - 1) / alignment * alignment; };
  for (size_t k = 0; k < plan.phases.size(); ++k) {
    drop_unused(plan, plan.phases[k].shared);
    drop_unused(plan, plan.phases[k].rows);
    drop_unused(plan, plan.phases[k].images);
    Liveness(plan, static_cast<int32_t>(k)).walk(plan.phases[k].rows, -1);
  }
  if (stack_bytes > 0) find_stacks(plan, stack_bytes);
  place_images(plan);
  std::map<int32_t, std::vector<Buffer*>> scratch;
  for (Buffer& buffer : plan.buffers) {
    if (buffer.space != Space::kScratch || buffer.first == 0) continue;
    if (buffer.across_phases) {
      buffer.space = Space::kKept;
      buffer.offset = plan.kept_features;
      plan.kept_features += buffer.size;
    } else {
      scratch[buffer.phase].push_back(&buffer);
    }
  }
  for (auto& [phase, buffers] : scratch) {
    plan.scratch_features = std::max(plan.scratch_features, pack(buffers, room, most));
  }
  // Sums over rows of one phase lie side by side, so that they are combined in one sweep.
  std::vector<bool> placed(plan.buffers.size());
  for (Phase& phase : plan.phases) {
    phase.partial_begin = plan.shared_elements;
    for (const Step& step : phase.rows) {
      if (step.kind != StepKind::kOperation || !sums_over_rows(step.op)) continue;
      const size_t id = static_cast<size_t>(step.outputs[0].buffer);
      plan.buffers[id].offset = plan.shared_elements;
      placed[id] = true;
      plan.shared_elements += aligned(plan.buffers[id].size);
    }
    phase.partial_end = plan.shared_elements;
  }
  for (size_t id = 0; id < plan.buffers.size(); ++id) {
    Buffer& buffer = plan.buffers[id];
    if (buffer.space != Space::kShared || placed[id] || !buffer.used) continue;
    buffer.offset = plan.shared_elements;
    plan.shared_elements += aligned(buffer.size);
  }
  const auto place = [&](int64_t& buffer) {
    if (buffer >= 0) buffer = plan.buffers[static_cast<size_t>(buffer)].offset;
  };
  for (PlannedInput& input : plan.inputs) place(input.offset);
  for (PlannedConstant& constant : plan.constants) place(constant.offset);
  place(plan.inverse_rows);
}

}  // namespace agora::compute
