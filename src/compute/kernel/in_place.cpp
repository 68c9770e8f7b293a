#include "compute/kernel/in_place.h"

#include <functional>
#include <numeric>
#include <set>

#include "compute/kernel/look.h"

namespace agora::compute::kernel {
namespace {

// How often steps touch each buffer.
void count_touches(const std::vector<Step>& steps, std::map<int32_t, int>& touches) {
  for (const Step& step : steps) {
    for (const std::vector<View>* views : {&step.inputs, &step.outputs}) {
      for (const View& it : *views) {
        if (has_buffer(it)) ++touches[it.buffer];
      }
    }
    count_touches(step.body, touches);
  }
}

bool writes(const Step& step, int32_t buffer) {
  return std::any_of(step.outputs.begin(), step.outputs.end(),
                     [&](const View& it) { return it.buffer == buffer; });
}

// Whether what `copy` moves can be computed in its place.
bool can_compute_there(const Plan& plan, const std::vector<Step>& body, size_t copy,
                       const std::map<int32_t, int>& everywhere,
                       const std::map<int32_t, int>& here) {
  const View &from = body[copy].inputs[0], &to = body[copy].outputs[0];
  if (!has_buffer(from) || from.buffer == to.buffer || !from.rows || !to.rows) return false;
  const auto whole = [&](const View& it) {
    const Buffer& buffer = plan.buffers[static_cast<size_t>(it.buffer)];
    return it.offset == 0 && it.dense() && it.count() == buffer.size &&
           buffer.space == Space::kScratch;
  };
  if (!whole(from) || !whole(to) || from.count() != to.count()) return false;
  if (everywhere.at(from.buffer) != here.at(from.buffer)) return false;
  size_t maker = body.size();
  for (size_t k = 0; k < body.size(); ++k) {
    if (body[k].kind == StepKind::kLoop) return false;
    if (!writes(body[k], from.buffer)) continue;
    if (maker < body.size() || !is_group(body[k])) return false;
    maker = k;
  }
  if (maker >= copy) return false;
  for (const View& it : body[maker].outputs) {
    if (it.buffer == from.buffer && (it.offset != 0 || !it.dense())) return false;
  }
  for (const View& it : body[maker].inputs) {
    if (has_buffer(it) && it.buffer == to.buffer &&
        (it.offset != 0 || !it.dense() || it.count() != to.count())) {
      return false;
    }
  }
  for (size_t k = 0; k < body.size(); ++k) {
    if (k == copy) continue;
    if (writes(body[k], to.buffer) || (k > maker && reads(body[k], to.buffer))) return false;
  }
  return true;
}

void rename(Step& step, int32_t from, int32_t to) {
  for (std::vector<View>* views : {&step.inputs, &step.outputs}) {
    for (View& it : *views) {
      if (has_buffer(it) && it.buffer == from) it.buffer = to;
    }
  }
  for (Step& inner : step.body) rename(inner, from, to);
}

void compute_states(Plan& plan, std::vector<Step>& steps,
                    const std::map<int32_t, int>& everywhere) {
  for (Step& loop : steps) {
    if (loop.kind != StepKind::kLoop) continue;
    std::map<int32_t, int> here;
    count_touches(loop.body, here);
    for (size_t k = 0; k < loop.body.size();) {
      const Step& copy = loop.body[k];
      if (copy.kind != StepKind::kOperation || copy.op != Op::kReshape || copy.inputs.empty() ||
          !can_compute_there(plan, loop.body, k, everywhere, here)) {
        ++k;
        continue;
      }
      const int32_t from = copy.inputs[0].buffer, to = copy.outputs[0].buffer;
      loop.body.erase(loop.body.begin() + int64_t(k));
      for (Step& step : loop.body) {
        rename(step, from, to);
      }
    }
  }
}

using Visit = std::function<void(std::vector<Step>&)>;

// All lists of row steps, those of loops too.
void visit_lists(std::vector<Step>& steps, const Visit& visit) {
  visit(steps);
  for (Step& step : steps) {
    if (!step.body.empty()) visit_lists(step.body, visit);
  }
}

}  // namespace

void compute_states_in_place(Plan& plan) {
  std::map<int32_t, int> everywhere;
  for (const Phase& phase : plan.phases) count_touches(phase.rows, everywhere);
  for (Phase& phase : plan.phases) compute_states(plan, phase.rows, everywhere);
}

void reflect_in_place(Plan& plan) {
  std::vector<int32_t> readers(plan.buffers.size()), place(plan.buffers.size());
  const auto all = [&](const Visit& visit) {
    for (Phase& phase : plan.phases) visit_lists(phase.rows, visit);
  };
  all([&](const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      for (const View& it : step.inputs) {
        if (!it.uniform && it.buffer >= 0) ++readers[static_cast<size_t>(it.buffer)];
      }
    }
  });
  std::iota(place.begin(), place.end(), 0);
  all([&](const std::vector<Step>& steps) {
    std::set<int32_t> written;
    for (const Step& step : steps) {
      if (step.kind == StepKind::kOperation && step.op == Op::kReflect) {
        const View &x = step.inputs[0], &y = step.outputs.back();
        if (x.uniform || y.buffer < 0 || written.count(x.buffer) == 0) continue;
        const Buffer& from = plan.buffers[static_cast<size_t>(x.buffer)];
        const Buffer& to = plan.buffers[static_cast<size_t>(y.buffer)];
        if (readers[static_cast<size_t>(x.buffer)] == 1 && x.offset == 0 && y.offset == 0 &&
            x.shape == y.shape && x.strides == y.strides && x.count() == from.size &&
            from.size == to.size && from.space == Space::kScratch && to.space == Space::kScratch) {
          place[static_cast<size_t>(y.buffer)] = place[static_cast<size_t>(x.buffer)];
        }
      }
      for (const View& it : step.outputs) written.insert(it.buffer);
    }
  });
  all([&](std::vector<Step>& steps) {
    for (Step& step : steps) {
      for (std::vector<View>* views : {&step.inputs, &step.outputs}) {
        for (View& it : *views) {
          if (it.buffer >= 0) it.buffer = place[static_cast<size_t>(it.buffer)];
        }
      }
    }
  });
}

}  // namespace agora::compute::kernel
