#include "planning/model/backward.h"

#include <atomic>

#include "planning/model/parts.h"

namespace agora::planning {
namespace {

template <typename Body>
void for_each_move(const Model& model, Body&& body) {
  for (State s = 0; s < model.states(); ++s) {
    for (Action a = 0; a < model.actions(); ++a) {
      for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
        const State next = model.transition(s, a, i).next;
        if (next != s) body(s, next);
      }
    }
  }
}

// Whether every move of a deterministic model can be taken back, ends aside: then the successors
// of a state are its predecessors too, and no reversed graph is needed.
bool moves_are_reversible(const Model& model) {
  if (!model.is_deterministic()) return false;
  const State* successors = model.successors().data();
  const size_t d = static_cast<size_t>(model.actions());
  std::atomic<bool> reversible{true};
  default_pool().run(kParts, [&](int64_t part) {
    const Range range = part_range(model.states(), part, kParts);
    for (int64_t s = range.begin; s < range.end && reversible.load(std::memory_order_relaxed);
         ++s) {
      for (size_t a = 0; a < d; ++a) {
        const State next = successors[static_cast<size_t>(s) * d + a];
        if (next == kNone || next == s) continue;
        const State* back = successors + static_cast<size_t>(next) * d;
        bool found = false, has_actions = false;
        for (size_t b = 0; b < d; ++b) {
          found |= back[b] == s;
          has_actions |= back[b] != kNone;
        }
        if (!found && has_actions) reversible.store(false, std::memory_order_relaxed);
      }
    }
  });
  return reversible;
}

}  // namespace

Predecessors::Predecessors(const Model& model) : begin(static_cast<size_t>(model.states()) + 1, 0) {
  for_each_move(model, [&](State, State next) { ++begin[static_cast<size_t>(next) + 1]; });
  for (size_t s = 1; s < begin.size(); ++s) begin[s] += begin[s - 1];
  from.resize(begin.back());
  std::vector<uint32_t> fill(begin.begin(), begin.end() - 1);
  for_each_move(model, [&](State s, State next) { from[fill[static_cast<size_t>(next)]++] = s; });
}

Backward::Backward(const Model& model)
    : model_(model), is_end_(static_cast<size_t>(model.states()), 0) {
  for (const Terminal& end : model.terminals()) is_end_[static_cast<size_t>(end.state)] = 1;
  if (moves_are_reversible(model)) {
    find_last_moves();
  } else {
    reversed_.emplace(model);
  }
}

// Ends have no moves to take back: find who leads to them.
void Backward::find_last_moves() {
  std::vector<std::vector<std::pair<State, State>>> found(kParts);
  const size_t d = static_cast<size_t>(model_.actions());
  default_pool().run(kParts, [&](int64_t part) {
    const Range range = part_range(model_.states(), part, kParts);
    const State* successors = model_.successors().data();
    for (int64_t s = range.begin; s < range.end; ++s) {
      for (size_t a = 0; a < d; ++a) {
        const State next = successors[static_cast<size_t>(s) * d + a];
        if (next != kNone && is_end_[static_cast<size_t>(next)]) {
          found[static_cast<size_t>(part)].emplace_back(next, static_cast<State>(s));
        }
      }
    }
  });
  for (const auto& moves : found) last_moves_.insert(last_moves_.end(), moves.begin(), moves.end());
  std::sort(last_moves_.begin(), last_moves_.end());
}

}  // namespace agora::planning
