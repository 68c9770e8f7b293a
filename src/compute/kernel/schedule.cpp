#include "compute/kernel/schedule.h"

#include <algorithm>

namespace agora::compute::kernel {
namespace {

struct Access {
  Space space;
  int32_t owner;  // variable or buffer
  int64_t begin, end;
  std::vector<bool> touched;  // of these; empty: all
  bool writes;
};

std::vector<bool> touched_by(const View& view, int64_t size) {
  std::vector<bool> touched;
  if (view.count() >= size) return touched;
  touched.resize(static_cast<size_t>(size));
  std::vector<int64_t> places{0};
  for (size_t k = 0; k < view.shape.size(); ++k) {
    if (view.shape[k] == 1 || view.strides[k] == 0) continue;
    const size_t before = places.size();
    for (int64_t i = 1; i < view.shape[k]; ++i) {
      for (size_t j = 0; j < before; ++j) places.push_back(places[j] + i * view.strides[k]);
    }
  }
  for (const int64_t place : places) touched[static_cast<size_t>(place)] = true;
  return touched;
}

void add_view(const Plan& plan, const View& view, bool writes, bool placed,
              std::vector<Access>& accesses) {
  if (view.uniform || view.buffer < 0) return;
  const Buffer& buffer = plan.buffers[static_cast<size_t>(view.buffer)];
  const int64_t begin = (placed ? buffer.offset : 0) + view.offset;
  int64_t last = begin;
  for (size_t k = 0; k < view.shape.size(); ++k) last += (view.shape[k] - 1) * view.strides[k];
  accesses.push_back({buffer.space, placed ? buffer.variable : view.buffer, begin, last + 1,
                      touched_by(view, last + 1 - begin), writes});
}

void add_step(const Plan& plan, const Step& step, bool placed, std::vector<Access>& accesses) {
  for (const View& view : step.inputs) add_view(plan, view, false, placed, accesses);
  for (const View& view : step.outputs) add_view(plan, view, true, placed, accesses);
  for (const Step& inner : step.body) add_step(plan, inner, placed, accesses);
}

bool overlap(const Access& a, const Access& b) {
  if (a.begin >= b.end || b.begin >= a.end) return false;
  const auto touches = [](const Access& it, int64_t place) {
    return it.touched.empty() || it.touched[static_cast<size_t>(place - it.begin)];
  };
  const int64_t begin = std::max(a.begin, b.begin), end = std::min(a.end, b.end);
  for (int64_t place = begin; place < end; ++place) {
    if (touches(a, place) && touches(b, place)) return true;
  }
  return false;
}

bool conflict(const std::vector<Access>& first, const std::vector<Access>& second) {
  for (const Access& a : first) {
    for (const Access& b : second) {
      if ((a.writes || b.writes) && a.space == b.space && a.owner == b.owner && overlap(a, b)) {
        return true;
      }
    }
  }
  return false;
}

std::vector<std::vector<const Step*>> waves(const Plan& plan, const std::vector<Step>& steps,
                                            bool placed) {
  std::vector<std::vector<Access>> accesses(steps.size());
  std::vector<size_t> wave(steps.size());
  std::vector<std::vector<const Step*>> waves;
  for (size_t k = 0; k < steps.size(); ++k) {
    add_step(plan, steps[k], placed, accesses[k]);
    for (size_t before = 0; before < k; ++before) {
      if (wave[before] >= wave[k] && conflict(accesses[before], accesses[k])) {
        wave[k] = wave[before] + 1;
      }
    }
    while (wave[k] >= waves.size()) waves.emplace_back();
    waves[wave[k]].push_back(&steps[k]);
  }
  return waves;
}

}  // namespace

std::vector<std::vector<const Step*>> waves_of(const Plan& plan, const std::vector<Step>& steps) {
  return waves(plan, steps, true);
}

bool depend(const Plan& plan, const Step& first, const Step& second) {
  std::vector<Access> of_first, of_second;
  add_step(plan, first, false, of_first);
  add_step(plan, second, false, of_second);
  return conflict(of_first, of_second);
}

void order_by_depth(const Plan& plan, std::vector<Step>& steps) {
  std::vector<Step> ordered;
  for (const std::vector<const Step*>& wave : waves(plan, steps, false)) {
    for (const Step* step : wave) ordered.push_back(*step);
  }
  steps = std::move(ordered);
  for (Step& step : steps) order_by_depth(plan, step.body);
}

}  // namespace agora::compute::kernel
