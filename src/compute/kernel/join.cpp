#include "compute/kernel/join.h"

#include "compute/kernel/look.h"
#include "compute/kernel/schedule.h"

namespace agora::compute::kernel {
namespace {

constexpr int64_t kShortSum = 16, kSmallGroup = 64;  // elements

const View& shape_of(const Step& group) { return group.outputs.back(); }

// Whether element by element `second` may follow `first` in one group.
bool can_follow(const Step& first, const Step& second) {
  bool reads = false;
  for (const View& to : first.outputs) {
    if (to.buffer < 0) continue;
    for (const View& from : second.inputs) {
      if (!has_buffer(from) || from.buffer != to.buffer) continue;
      if (!same_elements(from, to)) return false;
      reads = true;
    }
    for (const View& other : second.outputs) {
      if (other.buffer == to.buffer) return false;
    }
  }
  for (const View& from : first.inputs) {
    for (const View& to : second.outputs) {
      if (has_buffer(from) && from.buffer == to.buffer && !same_elements(from, to)) return false;
    }
  }
  return reads;
}

Step joined(const Step& first, const Step& second) {
  Step all = first;
  const int32_t before = static_cast<int32_t>(first.code.size());
  std::vector<int32_t> slots;  // of the inputs of `second` in the whole
  for (const View& from : second.inputs) {
    int32_t slot = -1;
    for (size_t k = 0; k < first.outputs.size(); ++k) {
      const View& to = first.outputs[k];
      if (to.buffer >= 0 && has_buffer(from) && from.buffer == to.buffer) {
        slot = -2 - static_cast<int32_t>(k);
      }
    }
    if (slot == -1) {
      slot = static_cast<int32_t>(all.inputs.size());
      all.inputs.push_back(from);
    }
    slots.push_back(slot);
  }
  for (Instruction code : second.code) {
    for (int32_t* operand : {&code.a, &code.b, &code.c}) {
      if (*operand >= 0) {
        *operand = slots[static_cast<size_t>(*operand)];
      } else if (*operand <= -2) {
        *operand -= before;
      }
    }
    all.code.push_back(code);
  }
  all.outputs.insert(all.outputs.end(), second.outputs.begin(), second.outputs.end());
  return all;
}

bool join_two(const Plan& plan, std::vector<Step>& steps, Readers& readers, size_t most) {
  for (size_t j = 1; j < steps.size(); ++j) {
    if (!is_group(steps[j])) continue;
    for (size_t i = j; i-- > 0;) {
      const Step& first = steps[i];
      if (!is_group(first) || shape_of(first).count() != shape_of(steps[j]).count() ||
          shape_of(first).shape != shape_of(steps[j]).shape ||
          shape_of(first).rows != shape_of(steps[j]).rows ||
          first.code.size() + steps[j].code.size() > most || !can_follow(first, steps[j]) ||
          std::any_of(steps.begin() + int64_t(i) + 1, steps.begin() + int64_t(j),
                      [&](const Step& it) { return depend(plan, first, it); })) {
        continue;
      }
      Step all = joined(first, steps[j]);
      for (const View& from : steps[j].inputs) {
        if (!has_buffer(from)) continue;
        for (size_t k = 0; k < first.outputs.size(); ++k) {
          if (first.outputs[k].buffer == from.buffer && --readers[from.buffer] == 0) {
            all.outputs[k].buffer = -1;
          }
        }
      }
      steps[j] = std::move(all);
      steps.erase(steps.begin() + int64_t(i));
      return true;
    }
  }
  return false;
}

// What a pad or a short reduction reads can be computed where it is read.
bool can_absorb(const Step& step) {
  if (step.kind != StepKind::kOperation || !step.body.empty() || step.inputs.empty() ||
      !has_buffer(step.inputs[0]) || !step.inputs[0].rows) {
    return false;
  }
  if (step.op == Op::kPad) return true;
  if (step.op != Op::kSum && step.op != Op::kMaximum) return false;
  int64_t count = 1;
  for (const int64_t axis : step.ints) count *= step.inputs[0].shape[static_cast<size_t>(axis)];
  return count <= kShortSum;
}

// Whether all that a step gives, as far as anybody reads it, is this.
bool gives_only(const Step& step, const View& x, Readers& readers) {
  const bool is_pad = step.kind == StepKind::kOperation && step.op == Op::kPad;
  if (!is_pad && !is_group(step)) return false;
  const View& last = step.outputs.back();
  return last.buffer == x.buffer && last.shape == x.shape && same_elements(last, x) &&
         std::all_of(step.outputs.begin(), step.outputs.end() - 1,
                     [&](const View& it) { return it.buffer < 0 || readers[it.buffer] == 0; });
}

bool absorb(const Plan& plan, std::vector<Step>& steps, Readers& readers) {
  for (size_t j = 1; j < steps.size(); ++j) {
    Step& reader = steps[j];
    if (!can_absorb(reader) || readers[reader.inputs[0].buffer] != 1) continue;
    for (size_t i = j; i-- > 0;) {
      if (!gives_only(steps[i], reader.inputs[0], readers) ||
          std::any_of(steps.begin() + int64_t(i) + 1, steps.begin() + int64_t(j),
                      [&](const Step& it) { return depend(plan, steps[i], it); })) {
        continue;
      }
      Step inner = std::move(steps[i]);
      for (View& it : inner.outputs) it.buffer = -1;
      reader.inputs[0].buffer = -1;
      reader.body.push_back(std::move(inner));
      steps.erase(steps.begin() + int64_t(i));
      return true;
    }
  }
  return false;
}

// The axis of a view that has more than one element, if there is at most one; its size and stride.
struct Line {
  bool is = true;
  int64_t size = 1, stride = 0;
};
Line line_of(const View& it) {
  Line line;
  for (size_t k = 0; k < it.strides.size(); ++k) {  // a constant has none
    if (it.shape[k] == 1) continue;
    line.is = line.size == 1;
    line.size = it.shape[k];
    line.stride = it.strides[k];
    if (!line.is) break;
  }
  return line;
}

// A small group that a larger one reads, repeated, and nobody else: computed there, as often as it
// is read.
bool repeat_group(const Plan& plan, std::vector<Step>& steps, Readers& readers, size_t most) {
  for (size_t j = 1; j < steps.size(); ++j) {
    if (!is_group(steps[j]) || shape_of(steps[j]).count() > kSmallGroup) continue;
    const View& to = shape_of(steps[j]);
    for (const View& x : steps[j].inputs) {
      if (!has_buffer(x) || !x.rows || readers[x.buffer] != 1) continue;
      for (size_t i = j; i-- > 0;) {
        const Step& group = steps[i];
        if (!is_group(group) || shape_of(group).buffer != x.buffer || !shape_of(group).rows) {
          continue;
        }
        const Line own = line_of(shape_of(group));
        const bool simple =
            own.is && x.offset == shape_of(group).offset && x.shape == to.shape &&
            (own.size == 1 || own.stride == 1) &&
            std::all_of(x.strides.begin(), x.strides.end(),
                        [](int64_t it) { return it == 0 || it == 1; }) &&
            group.code.size() + steps[j].code.size() <= most &&
            std::all_of(group.outputs.begin(), group.outputs.end() - 1,
                        [&](const View& it) { return it.buffer < 0 || readers[it.buffer] == 0; });
        if (!simple ||
            std::any_of(steps.begin() + int64_t(i) + 1, steps.begin() + int64_t(j),
                        [&](const Step& it) { return depend(plan, group, it); }) ||
            std::any_of(group.inputs.begin(), group.inputs.end(), [&](const View& from) {
              return !line_of(from).is ||
                     std::any_of(steps[j].outputs.begin(), steps[j].outputs.end(),
                                 [&](const View& it) {
                                   return has_buffer(from) && it.buffer == from.buffer;
                                 });
            })) {
          continue;
        }
        Step repeated = group;
        for (View& from : repeated.inputs) {
          const int64_t stride = line_of(from).stride;
          from.shape = x.shape;
          from.strides = x.strides;
          for (int64_t& it : from.strides) it *= stride;
        }
        for (View& it : repeated.outputs) {
          it.shape = x.shape;
          it.strides = x.strides;
        }
        Step all = joined(repeated, steps[j]);
        for (size_t k = 0; k < repeated.outputs.size(); ++k) {
          all.outputs[k] = to;
          all.outputs[k].buffer = -1;
        }
        steps[j] = std::move(all);
        steps.erase(steps.begin() + int64_t(i));
        return true;
      }
    }
  }
  return false;
}

// The group that reads the buffer, in the list or in a step of it.
Step* reading_group(std::vector<Step>& steps, int32_t buffer) {
  for (Step& step : steps) {
    if (is_group(step) && std::any_of(step.inputs.begin(), step.inputs.end(), [&](const View& it) {
          return has_buffer(it) && it.buffer == buffer;
        })) {
      return &step;
    }
    if (step.kind == StepKind::kLoop) continue;
    if (Step* const inner = reading_group(step.body, buffer); inner != nullptr) return inner;
  }
  return nullptr;
}

// A product that adds another's result waits for it: the group that reads the sum adds instead.
bool release_product(std::vector<Step>& steps, Readers& readers) {
  for (Step& step : steps) {
    if (step.kind != StepKind::kOperation || step.op != Op::kMatmul || step.code.size() != 2 ||
        step.code[1].op != Op::kAdd || step.outputs[1].buffer < 0 ||
        (step.outputs[0].buffer >= 0 && readers[step.outputs[0].buffer] > 0)) {
      continue;
    }
    const View result = step.outputs[1];
    const int32_t slot = std::max(step.code[1].a, step.code[1].b);
    if (slot < 0 || std::min(step.code[1].a, step.code[1].b) != -2 || readers[result.buffer] != 1) {
      continue;
    }
    const View addend = step.inputs[static_cast<size_t>(slot)];
    View there = addend;
    there.buffer = result.buffer;
    const bool from_product = std::any_of(steps.begin(), steps.end(), [&](const Step& it) {
      return it.kind == StepKind::kOperation && it.op == Op::kMatmul &&
             it.outputs.back().buffer == addend.buffer;
    });
    Step* const group = reading_group(steps, result.buffer);
    if (!has_buffer(addend) || !from_product || !same_elements(there, result) || group == nullptr ||
        slot + 1 != static_cast<int32_t>(step.inputs.size())) {
      continue;
    }
    step.inputs.pop_back();
    step.code.pop_back();
    step.outputs = {result};
    // The group: its first instruction is the sum.
    View mask = shape_of(*group);
    mask.buffer = -1;
    const auto read = std::find_if(group->inputs.begin(), group->inputs.end(), [&](const View& it) {
      return has_buffer(it) && it.buffer == result.buffer;
    });
    const int32_t own = static_cast<int32_t>(read - group->inputs.begin());
    View other = *read;
    other.buffer = addend.buffer;
    group->inputs.push_back(other);
    for (Instruction& code : group->code) {
      for (int32_t* operand : {&code.a, &code.b, &code.c}) {
        if (*operand <= -2) {
          --*operand;
        } else if (*operand == own) {
          *operand = -2;
        }
      }
    }
    group->code.insert(group->code.begin(),
                       Instruction{.op = Op::kAdd,
                                   .a = own,
                                   .b = static_cast<int32_t>(group->inputs.size()) - 1,
                                   .node = step.node});
    group->outputs.insert(group->outputs.begin(), mask);
    return true;
  }
  return false;
}

void join_list(const Plan& plan, std::vector<Step>& steps, Readers& readers, size_t most) {
  while (join_two(plan, steps, readers, most)) {
  }
  while (repeat_group(plan, steps, readers, most)) {
  }
  while (absorb(plan, steps, readers)) {
  }
  while (release_product(steps, readers)) {
  }
  for (Step& step : steps) {
    if (step.kind == StepKind::kLoop) join_list(plan, step.body, readers, most);
  }
}

// A group of one shape with a reduction whose result it reads follows it in its step.
bool follow_reduction(const Plan& plan, std::vector<Step>& steps, Readers& readers) {
  for (size_t j = 1; j < steps.size(); ++j) {
    if (!is_group(steps[j])) continue;
    for (size_t i = j; i-- > 0;) {
      const Step& sum = steps[i];
      if (sum.kind != StepKind::kOperation || (sum.op != Op::kSum && sum.op != Op::kMaximum) ||
          sum.code.size() != 1 || sum.outputs.size() != 1 || !sum.outputs[0].rows ||
          sum.outputs[0].count() != shape_of(steps[j]).count() || !can_follow(sum, steps[j]) ||
          std::any_of(steps[j].outputs.begin(), steps[j].outputs.end(),
                      [&](const View& it) { return it.buffer >= 0 && reads(sum, it.buffer); }) ||
          std::any_of(steps.begin() + int64_t(i) + 1, steps.begin() + int64_t(j),
                      [&](const Step& it) { return depend(plan, sum, it); })) {
        continue;
      }
      Step all = joined(sum, steps[j]);
      for (const View& from : steps[j].inputs) {
        if (has_buffer(from) && from.buffer == sum.outputs[0].buffer &&
            --readers[from.buffer] == 0) {
          all.outputs[0].buffer = -1;
        }
      }
      steps[j] = std::move(all);
      steps.erase(steps.begin() + int64_t(i));
      return true;
    }
  }
  return false;
}

void follow_in(const Plan& plan, std::vector<Step>& steps, Readers& readers) {
  while (follow_reduction(plan, steps, readers)) {
  }
  for (Step& step : steps) {
    if (step.kind == StepKind::kLoop) follow_in(plan, step.body, readers);
  }
}

Readers readers_of(const Plan& plan) {
  Readers readers;
  for (const Phase& phase : plan.phases) {
    count_readers(phase.shared, readers);
    count_readers(phase.rows, readers);
    count_readers(phase.images, readers);
  }
  return readers;
}

}  // namespace

void join_groups(Plan& plan, size_t most) {
  Readers readers = readers_of(plan);
  for (Phase& phase : plan.phases) join_list(plan, phase.rows, readers, most);
}

void follow_reductions(Plan& plan) {
  Readers readers = readers_of(plan);
  for (Phase& phase : plan.phases) follow_in(plan, phase.rows, readers);
}

}  // namespace agora::compute::kernel
