#include "planning/z/best_paths.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "base/error.h"
#include "planning/model/backward.h"
#include "planning/model/parts.h"

namespace agora::planning {
namespace {

using Entry = std::pair<double, State>;

// The best first.
class Heap {
 public:
  void push(double value, State s) { queue_.emplace(value, -s); }
  bool pop(Entry& entry) {
    if (queue_.empty()) return false;
    entry = {queue_.top().first, -queue_.top().second};
    queue_.pop();
    return true;
  }

 private:
  std::priority_queue<Entry> queue_;
};

// The same where all steps cost the same: those found later are never better, so that only the
// ends need sorting.
class Line {
 public:
  explicit Line(const Model& model) {
    for (const Terminal& end : model.terminals()) ends_.emplace_back(end.reward, end.state);
    std::stable_sort(ends_.begin(), ends_.end(),
                     [](const Entry& a, const Entry& b) { return a.first > b.first; });
  }
  void push(double value, State s) { found_.emplace_back(value, s); }
  bool pop(Entry& entry) {
    const bool has_end = end_ < ends_.size(), has_found = head_ < found_.size();
    if (!has_end && !has_found) return false;
    const bool take_end = has_end && (!has_found || ends_[end_].first >= found_[head_].first);
    entry = take_end ? ends_[end_++] : found_[head_++];
    return true;
  }

 private:
  std::vector<Entry> ends_, found_;
  size_t end_ = 0, head_ = 0;
};

template <typename Queue>
void settle_all(const Model& model, Queue& queue, BestPaths& paths) {
  const Backward backward(model);
  std::vector<char> settled(paths.value.size(), 0);
  Watch watch;
  for (Entry entry; queue.pop(entry);) {
    watch();
    const auto [value, next] = entry;
    if (settled[static_cast<size_t>(next)]) continue;
    settled[static_cast<size_t>(next)] = 1;
    paths.value[static_cast<size_t>(next)] = value;
    paths.order.push_back(next);
    backward.for_each(next, [&](State s) {
      if (settled[static_cast<size_t>(s)]) return;
      double best = paths.value[static_cast<size_t>(s)];
      for (Action a = 0; a < model.actions(); ++a) {
        const int64_t row = model.row(s, a);
        if (model.successors()[static_cast<size_t>(row)] != next) continue;
        best = std::max(best, model.rewards()[row] + value);
      }
      if (!(best > paths.value[static_cast<size_t>(s)])) return;
      paths.value[static_cast<size_t>(s)] = best;
      queue.push(best, s);
    });
  }
}

}  // namespace

bool has_best_paths(const Model& model) {
  return model.is_deterministic() && model.rewards().max() <= 0.0;
}

BestPaths best_paths(const Model& model) {
  CHECK(has_best_paths(model), "steps that gain or chance");
  const size_t n = static_cast<size_t>(model.states());
  BestPaths paths{.value = std::vector<double>(n, -INFINITY),
                  .action = std::vector<Action>(n, kNone),
                  .order = {}};
  paths.order.reserve(n);
  if (model.rewards().constant()) {
    Line line(model);
    settle_all(model, line, paths);
  } else {
    Heap heap;
    for (const Terminal& end : model.terminals()) heap.push(end.reward, end.state);
    settle_all(model, heap, paths);
  }
  std::vector<int32_t> place(n, -1);
  for (size_t k = 0; k < paths.order.size(); ++k) {
    place[static_cast<size_t>(paths.order[k])] = static_cast<int32_t>(k);
  }
  in_parts(model.states(), [&](int64_t from, int64_t until) {
    for (State s = static_cast<State>(from); s < static_cast<State>(until); ++s) {
      for (Action a = 0; a < model.actions() && place[static_cast<size_t>(s)] >= 0; ++a) {
        const int64_t row = model.row(s, a);
        const State next = model.successors()[static_cast<size_t>(row)];
        if (next == kNone || place[static_cast<size_t>(next)] < 0 ||
            place[static_cast<size_t>(next)] >= place[static_cast<size_t>(s)] ||
            model.rewards()[row] + paths.value[static_cast<size_t>(next)] !=
                paths.value[static_cast<size_t>(s)]) {
          continue;
        }
        paths.action[static_cast<size_t>(s)] = a;
        break;
      }
    }
  });
  return paths;
}

}  // namespace agora::planning
