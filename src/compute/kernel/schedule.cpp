#include "compute/kernel/schedule.h"

#include <algorithm>

namespace agora::compute::kernel {
namespace {

struct Access {
  Space space;
  int32_t variable;
  int64_t begin, end;
  bool writes;
};

void add_view(const Plan& plan, const View& view, bool writes, std::vector<Access>& accesses) {
  if (view.uniform || view.buffer < 0) return;
  const Buffer& buffer = plan.buffers[static_cast<size_t>(view.buffer)];
  int64_t last = buffer.offset + view.offset;
  const int64_t begin = last;
  for (size_t k = 0; k < view.shape.size(); ++k) last += (view.shape[k] - 1) * view.strides[k];
  accesses.push_back({buffer.space, buffer.variable, begin, last + 1, writes});
}

void add_step(const Plan& plan, const Step& step, std::vector<Access>& accesses) {
  for (const View& view : step.inputs) add_view(plan, view, false, accesses);
  for (const View& view : step.outputs) add_view(plan, view, true, accesses);
  for (const Step& inner : step.body) add_step(plan, inner, accesses);
}

bool conflict(const std::vector<Access>& first, const std::vector<Access>& second) {
  for (const Access& a : first) {
    for (const Access& b : second) {
      if ((a.writes || b.writes) && a.space == b.space && a.variable == b.variable &&
          a.begin < b.end && b.begin < a.end) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::vector<std::vector<const Step*>> waves_of(const Plan& plan, const std::vector<Step>& steps) {
  std::vector<std::vector<Access>> accesses(steps.size());
  std::vector<size_t> wave(steps.size());
  std::vector<std::vector<const Step*>> waves;
  for (size_t k = 0; k < steps.size(); ++k) {
    add_step(plan, steps[k], accesses[k]);
    for (size_t before = 0; before < k; ++before) {
      if (wave[before] >= wave[k] && conflict(accesses[before], accesses[k])) {
        wave[k] = wave[before] + 1;
      }
    }
    if (wave[k] == waves.size()) waves.emplace_back();
    waves[wave[k]].push_back(&steps[k]);
  }
  return waves;
}

}  // namespace agora::compute::kernel
