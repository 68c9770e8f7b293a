#include "compute/image_stacks.h"

#include <algorithm>

#include "compute/images.h"

namespace agora::compute {
namespace {

constexpr int64_t kMostRows = 16;  // of a strip

bool is_operation(const Step& step, Op op) {
  return step.kind == StepKind::kOperation && step.op == op;
}

int64_t rounded_up(int64_t bytes) { return (bytes + 127) / 128 * 128; }

bool reads(const Step& step, int32_t buffer) {
  return std::any_of(step.inputs.begin(), step.inputs.end(),
                     [&](const View& it) { return !it.uniform && it.rows && it.buffer == buffer; });
}

// Which of its outputs are somewhere.
std::vector<int32_t> made_by(const Step& step) {
  std::vector<int32_t> made;
  for (const View& it : step.outputs) {
    if (it.buffer >= 0 && it.rows) made.push_back(it.buffer);
  }
  return made;
}

// How many of these steps, from the first, are a stack; 0 if none.
size_t stack_size(std::span<const Step> steps) {
  if (steps.size() < 3 || !is_operation(steps[0], Op::kConv) ||
      !is_operation(steps[1], Op::kPool)) {
    return 0;
  }
  const std::vector<int32_t> first = made_by(steps[0]);
  const Shape& large = steps[0].outputs[0].shape;
  const Shape& small = steps[1].outputs[0].shape;
  if (first.size() != 1 || steps[1].inputs[0].buffer != first[0] || large[0] % 2 != 0 ||
      large[1] % 2 != 0) {
    return 0;
  }
  std::vector<int32_t> made = made_by(steps[1]);
  size_t size = 2;
  for (; size < steps.size(); ++size) {
    const Step& step = steps[size];
    const bool conv = is_operation(step, Op::kConv);
    const bool group = step.kind == StepKind::kElementwise;
    if (!(conv || group) || step.outputs[0].shape != small || reads(step, first[0])) break;
    if (conv && (step.index >= 0 || step.inputs[0].shape != small ||
                 std::find(made.begin(), made.end(), step.inputs[0].buffer) == made.end())) {
      break;
    }
    const bool begins = conv && size + 1 < steps.size() && is_operation(steps[size + 1], Op::kPool);
    if (begins) break;  // the next one
    for (const int32_t it : made_by(step)) made.push_back(it);
  }
  return size < 3 ? 0 : size;
}

// Small images take the places of those that nobody reads any more, and of operands that are read
// element by element.
int64_t assign_places(std::span<const Step> steps, std::map<int32_t, int64_t>& places) {
  std::vector<std::pair<int32_t, size_t>> tenants;  // buffer and last reader of each place
  for (size_t k = 1; k < steps.size(); ++k) {
    for (const int32_t made : made_by(steps[k])) {
      size_t last = 0;
      for (size_t by = k + 1; by < steps.size(); ++by) {
        if (reads(steps[by], made)) last = by;
      }
      if (last == 0) continue;
      const bool window = steps[k].kind == StepKind::kOperation;
      const auto is_free = [&](const std::pair<int32_t, size_t>& it) {
        return it.second < k ||
               (it.second == k && !(window && steps[k].inputs[0].buffer == it.first));
      };
      auto place = std::find_if(tenants.begin(), tenants.end(), is_free);
      if (place == tenants.end()) place = tenants.emplace(tenants.end());
      *place = {made, last};
      places[made] = place - tenants.begin();
    }
  }
  return std::ssize(tenants);
}

}  // namespace

ImageStack image_stack(std::span<const Step> steps, int64_t bytes) {
  ImageStack it;
  const auto deep = [](const Shape& shape) {
    return image_band(shape, 1).narrow ? int64_t{16} : shape[2];
  };
  for (const Step& step : steps) {
    it.weights.push_back(it.bytes);
    if (!is_operation(step, Op::kConv)) continue;
    const Shape& from = step.inputs[0].shape;
    const int64_t taps = image_band(from, 1).narrow ? 3 : 9;
    it.bytes += step.outputs[0].shape[2] / 8 * 256 * taps * deep(from) / 16;
  }
  const Shape& small = steps[1].outputs[0].shape;
  it.first_place = rounded_up(it.bytes);
  it.place_bytes = rounded_up((small[0] + 2) * (small[1] + 2) * small[2] * 2);
  it.place_count = assign_places(steps, it.places);
  for (auto& [buffer, place] : it.places) place = it.first_place + place * it.place_bytes;
  it.band = it.first_place + it.place_count * it.place_bytes;
  const Shape &from = steps[0].inputs[0].shape, &large = steps[0].outputs[0].shape;
  for (it.rows = kMostRows; it.rows >= 2; it.rows /= 2) {
    const int64_t wide = from[1] + (image_band(from, 1).narrow ? 0 : 2);
    it.strip = it.band + rounded_up((it.rows + 2) * wide * deep(from) * 2);
    it.bytes = it.strip + (it.rows + 1) * large[1] * large[2] * 2;
    if (large[0] % it.rows == 0 && it.bytes <= bytes) return it;
  }
  it.bytes = 0;
  return it;
}

void find_stacks(Plan& plan, int64_t bytes) {
  std::map<int32_t, int64_t> readers;
  for (const Phase& phase : plan.phases) {
    for (const auto* const steps : {&phase.rows, &phase.images}) {
      for (const Step& step : *steps) {
        for (const View& it : step.inputs) readers[it.uniform ? -1 : it.buffer] += 1;
      }
    }
  }
  int32_t number = 0;
  for (Phase& phase : plan.phases) {
    for (size_t k = 0; k < phase.images.size(); ++k) {
      const auto rest = std::span<Step>(phase.images).subspan(k);
      const size_t size = stack_size(rest);
      if (size == 0 || readers[made_by(rest[0])[0]] > 1 ||
          image_stack(rest.first(size), bytes).bytes == 0) {
        continue;
      }
      ++number;
      for (Step& step : rest.first(size)) step.stack = number;
      k += size - 1;
    }
  }
}

std::vector<bool> inside_stacks(const Plan& plan) {
  std::vector<int32_t> by(plan.buffers.size(), -1);  // the stack that touches it; 0 for others
  const auto touch = [&](const Step& step, int32_t stack) {
    for (const auto* const views : {&step.inputs, &step.outputs}) {
      for (const View& it : *views) {
        if (it.uniform || it.buffer < 0) continue;
        int32_t& known = by[static_cast<size_t>(it.buffer)];
        known = known == -1 || known == stack ? stack : 0;
      }
    }
  };
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.shared) touch(step, 0);
    for (const Step& step : phase.rows) touch(step, 0);
    for (const Step& step : phase.images) touch(step, step.stack);
  }
  std::vector<bool> inside;
  for (const int32_t it : by) inside.push_back(it > 0);
  return inside;
}

}  // namespace agora::compute
