#include "planning/optimum/end_components.h"

#include <algorithm>
#include <cmath>

#include "planning/optimum/evaluation.h"

namespace agora::planning {
namespace {

// Strongly connected components (Tarjan's algorithm, without recursion).
class Strong {
 public:
  Strong(const Model& model, const std::vector<State>& states, const std::vector<char>& has_action)
      : model_(model),
        has_action_(has_action),
        index_(static_cast<size_t>(model.states()), -1),
        low_(index_.size(), 0),
        component(index_.size(), -1) {
    is_member_.assign(index_.size(), 0);
    for (const State s : states) is_member_[static_cast<size_t>(s)] = 1;
    for (const State s : states) {
      if (index_[static_cast<size_t>(s)] < 0) visit(s);
    }
  }

 private:
  struct Frame {
    State state;
    Action action = 0;
    int64_t successor = 0;
  };

  void open(State s) {
    index_[static_cast<size_t>(s)] = low_[static_cast<size_t>(s)] = next_index_++;
    open_.push_back(s);
    frames_.push_back({s});
  }

  void visit(State root) {
    open(root);
    while (!frames_.empty()) {
      watch_();
      Frame& frame = frames_.back();
      const State s = frame.state;
      if (const State next = advance(frame); next != kNone) {
        if (index_[static_cast<size_t>(next)] < 0) {
          open(next);
        } else if (component[static_cast<size_t>(next)] < 0) {
          low_[static_cast<size_t>(s)] =
              std::min(low_[static_cast<size_t>(s)], index_[static_cast<size_t>(next)]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) {
        int32_t& above = low_[static_cast<size_t>(frames_.back().state)];
        above = std::min(above, low_[static_cast<size_t>(s)]);
      }
      if (low_[static_cast<size_t>(s)] == index_[static_cast<size_t>(s)]) close(s);
    }
  }

  // The next successor among the states, kNone if there is no more.
  State advance(Frame& frame) const {
    for (; frame.action < model_.actions(); ++frame.action, frame.successor = 0) {
      if (!has_action_[static_cast<size_t>(model_.row(frame.state, frame.action))]) continue;
      const int64_t n = model_.transition_count(frame.state, frame.action);
      while (frame.successor < n) {
        const State next = model_.transition(frame.state, frame.action, frame.successor++).next;
        if (is_member_[static_cast<size_t>(next)]) return next;
      }
    }
    return kNone;
  }

  void close(State s) {
    for (State member = kNone; member != s;) {
      member = open_.back();
      open_.pop_back();
      component[static_cast<size_t>(member)] = count;
    }
    ++count;
  }

  const Model& model_;
  const std::vector<char>& has_action_;
  std::vector<char> is_member_;
  std::vector<int32_t> index_, low_;
  std::vector<State> open_;
  std::vector<Frame> frames_;
  int32_t next_index_ = 0;
  Watch watch_;

 public:
  std::vector<int32_t> component;
  int32_t count = 0;
};

// A way to leave a component.
struct Exit {
  int32_t component;
  double loss;
  State state;
  Action action;
};

// The largest expected number of exits until the end, over all ways to choose among `exits`. Empty
// if some component has none.
std::vector<double> longest_ways(const Model& model, const EndComponents& parts,
                                 const std::vector<Exit>& exits) {
  const int32_t end = parts.count;
  std::vector<int64_t> chosen(static_cast<size_t>(parts.count), -1);
  for (size_t k = 0; k < exits.size(); ++k) {
    int64_t& own = chosen[static_cast<size_t>(exits[k].component)];
    if (own < 0) own = static_cast<int64_t>(k);
  }
  if (std::find(chosen.begin(), chosen.end(), -1) != chosen.end()) return {};
  const auto to = [&](State s) {
    const int32_t c = parts.component[static_cast<size_t>(s)];
    return c < 0 ? end : c;
  };
  std::vector<double> steps;
  for (bool changed = true; changed;) {
    ModelBuilder builder;
    for (int32_t c = 0; c < parts.count; ++c) {
      const Exit& exit = exits[static_cast<size_t>(chosen[static_cast<size_t>(c)])];
      for (int64_t i = 0, n = model.transition_count(exit.state, exit.action); i < n; ++i) {
        const auto t = model.transition(exit.state, exit.action, i);
        builder.add(c, 0, to(t.next), t.probability, -1.0);
      }
    }
    builder.terminal_reward(end, 0.0);
    const Model chain = builder.build();
    steps = evaluate_policy(chain, uniform_policy(chain), 1.0, 1e-3).value;
    for (double& n : steps) n = -n;
    changed = false;
    std::vector<double> most = steps;
    for (size_t k = 0; k < exits.size(); ++k) {
      double after = 1.0;
      for (int64_t i = 0, n = model.transition_count(exits[k].state, exits[k].action); i < n; ++i) {
        const auto t = model.transition(exits[k].state, exits[k].action, i);
        after += t.probability * steps[static_cast<size_t>(to(t.next))];
      }
      double& own = most[static_cast<size_t>(exits[k].component)];
      if (!(after > own + 0.01)) continue;
      own = after;
      chosen[static_cast<size_t>(exits[k].component)] = static_cast<int64_t>(k);
      changed = true;
    }
  }
  return steps;
}

}  // namespace

EndComponents end_components(const ValueProblem& problem,
                             const std::function<bool(State, Action)>& keep) {
  const Model& model = problem.model;
  EndComponents parts;
  parts.inside.assign(static_cast<size_t>(model.states()) * static_cast<size_t>(model.actions()),
                      0);
  for (const State s : problem.order) {
    for (Action a = 0; a < model.actions(); ++a) {
      parts.inside[static_cast<size_t>(model.row(s, a))] = model.has(s, a) && keep(s, a);
    }
  }
  for (bool left = true; left;) {
    Strong strong(model, problem.order, parts.inside);
    parts.component = std::move(strong.component);
    parts.count = strong.count;
    left = false;
    for (const State s : problem.order) {
      for (Action a = 0; a < model.actions(); ++a) {
        char& inside = parts.inside[static_cast<size_t>(model.row(s, a))];
        for (int64_t i = 0, n = inside ? model.transition_count(s, a) : 0; i < n; ++i) {
          const State next = model.transition(s, a, i).next;
          if (parts.component[static_cast<size_t>(next)] !=
              parts.component[static_cast<size_t>(s)]) {
            inside = 0;
            left = true;
            break;
          }
        }
      }
    }
  }
  return parts;
}

double distance_above_classes(const ValueProblem& problem, const std::vector<double>& value,
                              double margin) {
  const Model& model = problem.model;
  double scale = 1.0;
  for (const State s : problem.order) {
    scale = std::max(scale, std::abs(value[static_cast<size_t>(s)]));
  }
  return with_rows(model, 1.0, [&](const auto& rows) {
    const auto loss = [&](State s, Action a) {
      return value[static_cast<size_t>(s)] - rows.q(s, a, value.data());
    };
    for (double tight = std::max(1e-9 * scale, 10.0 * margin); tight < scale; tight *= 1e3) {
      const EndComponents parts =
          end_components(problem, [&](State s, Action a) { return loss(s, a) <= tight; });
      std::vector<int32_t> size(static_cast<size_t>(parts.count), 0);
      std::vector<Exit> exits, others;
      double gain = 0.0;
      for (const State s : problem.order) {
        const int32_t own = parts.component[static_cast<size_t>(s)];
        ++size[static_cast<size_t>(own)];
        for (Action a = 0; a < model.actions(); ++a) {
          const double lost = loss(s, a);
          if (!(lost < INFINITY)) continue;
          if (parts.inside[static_cast<size_t>(model.row(s, a))]) continue;
          (lost <= tight ? exits : others).push_back({own, lost, s, a});
          gain = std::max(gain, -lost);
        }
      }
      const std::vector<double> steps = longest_ways(model, parts, exits);
      if (steps.empty()) return static_cast<double>(INFINITY);
      const double eps = 1.1 * (gain + margin);
      const bool holds = std::all_of(others.begin(), others.end(), [&](const Exit& exit) {
        double after = 0.0;
        for (int64_t i = 0, n = model.transition_count(exit.state, exit.action); i < n; ++i) {
          const auto t = model.transition(exit.state, exit.action, i);
          const int32_t to = parts.component[static_cast<size_t>(t.next)];
          after += to < 0 ? 0.0 : t.probability * steps[static_cast<size_t>(to)];
        }
        return eps * (after - steps[static_cast<size_t>(exit.component)]) <= exit.loss;
      });
      if (!holds) continue;
      return eps * *std::max_element(steps.begin(), steps.end()) +
             margin * *std::max_element(size.begin(), size.end());
    }
    return static_cast<double>(INFINITY);
  });
}

}  // namespace agora::planning
