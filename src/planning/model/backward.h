#pragma once
#include <agora/planning/model.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace agora::planning {

// For every state, the states that lead to it.
struct Predecessors {
  std::vector<uint32_t> begin;  // (states + 1)
  std::vector<State> from;
  explicit Predecessors(const Model& model);
};

// The states that lead to a state, itself aside; may name one twice.
class Backward {
 public:
  explicit Backward(const Model& model);

  // Whether the states that lead to a state are, ends aside, those it leads to.
  bool reversible() const { return !reversed_; }

  template <typename Visit>
  void for_each(State next, Visit&& visit) const {
    if (reversed_) {
      for (uint32_t p = reversed_->begin[static_cast<size_t>(next)];
           p < reversed_->begin[static_cast<size_t>(next) + 1]; ++p) {
        visit(reversed_->from[p]);
      }
    } else if (is_end_[static_cast<size_t>(next)]) {
      const auto [first, last] =
          std::equal_range(last_moves_.begin(), last_moves_.end(), std::pair{next, State{0}},
                           [](const auto& a, const auto& b) { return a.first < b.first; });
      for (auto move = first; move != last; ++move) visit(move->second);
    } else {
      const size_t d = static_cast<size_t>(model_.actions());
      const State* successors = model_.successors().data() + static_cast<size_t>(next) * d;
      for (size_t a = 0; a < d; ++a) {
        const State s = successors[a];
        if (s != kNone && s != next && !is_end_[static_cast<size_t>(s)]) visit(s);
      }
    }
  }

 private:
  void find_last_moves();

  const Model& model_;
  std::vector<char> is_end_;
  std::optional<Predecessors> reversed_;
  std::vector<std::pair<State, State>> last_moves_;  // (end, state before it), sorted
};

}  // namespace agora::planning
