#pragma once
#include <algorithm>
#include <map>

#include "compute/plan.h"

// Looks at steps of a plan whose memory is not assigned yet.
namespace agora::compute::kernel {

inline bool has_buffer(const View& it) { return !it.uniform && it.buffer >= 0; }

// Whether element by element they are the same memory.
inline bool same_elements(const View& a, const View& b) {
  const auto axes = [](const View& it) {
    std::vector<std::pair<int64_t, int64_t>> all;
    for (size_t k = 0; k < it.strides.size(); ++k) {
      if (it.shape[k] > 1) all.emplace_back(it.shape[k], it.strides[k]);
    }
    return all;
  };
  return a.uniform == b.uniform && a.buffer == b.buffer && a.offset == b.offset &&
         a.rows == b.rows && axes(a) == axes(b);
}

inline bool is_group(const Step& step) {
  return step.kind == StepKind::kElementwise && step.code.size() == step.outputs.size() &&
         !step.code.empty();
}

inline bool reads(const Step& step, int32_t buffer) {
  return std::any_of(step.inputs.begin(), step.inputs.end(),
                     [&](const View& it) { return has_buffer(it) && it.buffer == buffer; }) ||
         std::any_of(step.body.begin(), step.body.end(),
                     [&](const Step& inner) { return reads(inner, buffer); });
}

// How often steps read each buffer, those in others too.
using Readers = std::map<int32_t, int>;
inline void count_readers(const std::vector<Step>& steps, Readers& readers) {
  for (const Step& step : steps) {
    for (const View& it : step.inputs) {
      if (has_buffer(it)) ++readers[it.buffer];
    }
    count_readers(step.body, readers);
  }
}

}  // namespace agora::compute::kernel
