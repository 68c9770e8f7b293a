#include "agents/epistemic/memoryless.h"

#include <cmath>

#include "agents/epistemic/chain.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/signals.h"
#include "planning/optimum/evaluation.h"

namespace agora::agents::epistemic {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using planning::Action;
using planning::Model;
using planning::Policy;
using planning::State;

constexpr double kInterior = 1e-10;       // in place of a probability of zero
constexpr int kMostRounds = 300;          // of Newton's method
constexpr double kStill = 1e-15;          // a gain, relative, that is none
constexpr double kSame = 1e-8;            // values of starts that agree
constexpr uint32_t kStream = 0x65706900;  // of the starts

// One probability: what is seen, and what is done then.
struct Choice {
  State view;
  Action action;
};

class Climb {
 public:
  Climb(const Problem& problem, const MemorylessOptions& options)
      : problem_(problem), least_(std::max(options.least, kInterior)) {
    const Model& model = problem.first();
    std::vector<char> taken(static_cast<size_t>(problem.views));
    for (State s = 0; s < model.states(); ++s) {
      const State view = problem.seen[static_cast<size_t>(s)];
      if (model.terminal(s) || std::exchange(taken[static_cast<size_t>(view)], 1) != 0) continue;
      begin_.push_back(choices_.size());
      for (Action a = 0; a < model.actions(); ++a) {
        if (model.has(s, a)) choices_.push_back({view, a});
      }
      const auto count = static_cast<double>(choices_.size() - begin_.back());
      if (least_ * count > 1) {
        throw user_error("{}: {} actions cannot have a probability of {} each", problem.name, count,
                         least_);
      }
    }
    begin_.push_back(choices_.size());
    if (static_cast<int64_t>(choices_.size()) > options.most_numbers) {
      throw user_error("{}: a policy has {} probabilities; at most {} are searched", problem.name,
                       choices_.size(), options.most_numbers);
    }
    index_ = Eigen::MatrixXi::Constant(problem.views, model.actions(), -1);
    for (size_t j = 0; j < choices_.size(); ++j) {
      index_(choices_[j].view, choices_[j].action) = static_cast<int>(j);
    }
  }

  Eigen::Index size() const { return static_cast<Eigen::Index>(choices_.size()); }

  // Exponential numbers, scaled: uniform over the simplex of each view; the first start is its
  // middle.
  VectorXd start(uint64_t seed, int64_t number) const {
    VectorXd x(size());
    Rng rng(seed, kStream, static_cast<uint32_t>(number));
    for (Eigen::Index j = 0; j < size(); ++j) x[j] = number == 0 ? 1 : rng.exponential();
    for_each_view([&](Eigen::Index from, Eigen::Index count) {
      auto part = x.segment(from, count);
      part *= (1 - least_ * static_cast<double>(count)) / part.sum();
      part.array() += least_;
    });
    return x;
  }

  // Towards one action each: where a policy that is nearly deterministic would begin.
  VectorXd near(const Policy& policy) const {
    VectorXd x = start(0, 0);
    for (Eigen::Index j = 0; j < size(); ++j) {
      const Choice& choice = choices_[static_cast<size_t>(j)];
      x[j] = 0.1 * x[j] + 0.9 * policy(choice.view, choice.action);
    }
    for_each_view([&](Eigen::Index from, Eigen::Index count) {
      auto part = x.segment(from, count);
      part = part.cwiseMax(least_);
      part /= part.sum();
    });
    return x;
  }

  Policy policy(const VectorXd& x) const {
    Policy policy{problem_.first().actions(), {}, {}};
    policy.probabilities.resize(static_cast<size_t>(problem_.views * policy.actions));
    for (Eigen::Index j = 0; j < size(); ++j) {
      const Choice& choice = choices_[static_cast<size_t>(j)];
      policy.probabilities[static_cast<size_t>(choice.view * policy.actions + choice.action)] =
          x[j];
    }
    return policy;
  }

  double value(const VectorXd& x) const {
    const Policy wide = spread(problem_, policy(x));
    double sum = 0;
    for (const Member& each : problem_.members) {
      if (each.weight > 0) sum += each.weight * Chain(each.model, wide).start_value;
    }
    return sum;
  }

  // Value, gradient and second derivatives, all exact.
  double derive(const VectorXd& x, VectorXd& gradient, MatrixXd& hessian) const {
    const Policy wide = spread(problem_, policy(x));
    gradient = VectorXd::Zero(size());
    hessian = MatrixXd::Zero(size(), size());
    double sum = 0;
    for (const Member& each : problem_.members) {
      if (each.weight > 0) sum += each.weight * derive(each, wide, gradient, hessian);
    }
    hessian = (hessian + hessian.transpose()).eval();
    return sum;
  }

  // From x to where nothing gains any more; returns the value, and in `slope` what is left of it.
  double run(VectorXd& x, double& slope) const {
    VectorXd gradient;
    MatrixXd hessian;
    double best = derive(x, gradient, hessian);
    for (int round = 0; round < kMostRounds; ++round) {
      throw_if_stopped();
      const VectorXd direction = step(x, gradient, hessian);
      const double rise = gradient.dot(direction);
      if (!(rise > kStill * (1 + std::abs(best)))) break;
      double length = 1;
      for (Eigen::Index j = 0; j < size(); ++j) {
        if (direction[j] < 0) length = std::min(length, (least_ - x[j]) / direction[j]);
      }
      VectorXd next = x;
      double there = -INFINITY;
      for (int halvings = 0; halvings < 60; ++halvings, length /= 2) {
        next = onto_simplices(x + length * direction);
        there = value(next);
        if (there > best + 1e-4 * length * rise) break;
      }
      if (!(there > best)) break;
      x = next;
      best = derive(x, gradient, hessian);
    }
    slope = 0;
    for_each_view([&](Eigen::Index from, Eigen::Index count) {
      const auto g = gradient.segment(from, count);
      const double mean = g.dot(x.segment(from, count));
      slope = std::max(slope, g.maxCoeff() - mean);
    });
    return best;
  }

 private:
  template <typename Visit>
  void for_each_view(Visit&& visit) const {
    for (size_t v = 0; v + 1 < begin_.size(); ++v) {
      visit(static_cast<Eigen::Index>(begin_[v]),
            static_cast<Eigen::Index>(begin_[v + 1] - begin_[v]));
    }
  }

  VectorXd onto_simplices(VectorXd x) const {
    for_each_view([&](Eigen::Index from, Eigen::Index count) {
      auto part = x.segment(from, count);
      part = part.cwiseMax(least_);
      Eigen::Index largest = 0;
      part.maxCoeff(&largest);
      part[largest] += 1 - part.sum();
    });
    return x;
  }

  // With N = (1 - discount P)^-1, visits v and values q of (s, a):
  //   dJ / dx(s,a) = v(s) q(s,a),
  //   d²J / dx(s,a) dx(s',a') = v(s) discount P(.|s,a) N(., s') q(s',a'), and the same exchanged,
  // of which `hessian` gets one half: the caller adds its transpose.
  double derive(const Member& member, const Policy& wide, VectorXd& gradient,
                MatrixXd& hessian) const {
    const Model& model = member.model;
    const Chain chain(model, wide);
    // q by landing state, summed over the states that look alike: (states, numbers).
    for (State s = 0; s < model.states(); ++s) {
      if (chain.visits[s] == 0) continue;
      for (Action a = 0; a < model.actions(); ++a) {
        if (!model.has(s, a)) continue;
        const int j = index_(problem_.seen[static_cast<size_t>(s)], a);
        gradient[j] += member.weight * chain.visits[s] * chain.q(s, a);
        VectorXd onward = VectorXd::Zero(model.states());
        for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
          const Model::Transition t = model.transition(s, a, i);
          onward += model.discount() * t.probability * chain.inverse.row(t.next).transpose();
        }
        for (State to = 0; to < model.states(); ++to) {
          if (onward[to] == 0) continue;
          const double way = member.weight * chain.visits[s] * onward[to];
          for (Action b = 0; b < model.actions(); ++b) {
            if (!model.has(to, b)) continue;
            hessian(j, index_(problem_.seen[static_cast<size_t>(to)], b)) += way * chain.q(to, b);
          }
        }
      }
    }
    return chain.start_value;
  }

  // Newton's direction within the simplices, uphill along every axis of the second derivatives,
  // with those left out that would have to fall below the least.
  VectorXd step(const VectorXd& x, const VectorXd& gradient, const MatrixXd& hessian) const {
    std::vector<char> free(static_cast<size_t>(size()));
    for_each_view([&](Eigen::Index from, Eigen::Index count) {
      const double mean = gradient.segment(from, count).dot(x.segment(from, count));
      for (Eigen::Index j = from; j < from + count; ++j) {
        free[static_cast<size_t>(j)] = !at_least(x[j]) || gradient[j] > mean;
      }
    });
    while (true) {
      const MatrixXd basis = directions(x, free);
      if (basis.cols() == 0) return VectorXd::Zero(size());
      const Eigen::SelfAdjointEigenSolver<MatrixXd> axes(basis.transpose() * hessian * basis);
      const VectorXd sizes = axes.eigenvalues().cwiseAbs();
      const double floor = std::max(1e-10 * sizes.maxCoeff(), 1e-300);
      const VectorXd along = axes.eigenvectors().transpose() * (basis.transpose() * gradient);
      const VectorXd direction =
          basis * (axes.eigenvectors() * along.cwiseQuotient(sizes.cwiseMax(floor)).eval());
      bool blocked = false;
      for (Eigen::Index j = 0; j < size(); ++j) {
        if (free[static_cast<size_t>(j)] && at_least(x[j]) && direction[j] < 0) {
          free[static_cast<size_t>(j)] = false;
          blocked = true;
        }
      }
      if (!blocked) return direction;
    }
  }

  bool at_least(double probability) const { return probability <= least_ * (1 + 1e-6); }

  // (numbers, directions): each moves one free probability against the largest of its view.
  MatrixXd directions(const VectorXd& x, const std::vector<char>& free) const {
    std::vector<std::pair<Eigen::Index, Eigen::Index>> pairs;
    for_each_view([&](Eigen::Index from, Eigen::Index count) {
      Eigen::Index largest = 0;
      x.segment(from, count).maxCoeff(&largest);
      largest += from;
      for (Eigen::Index j = from; j < from + count; ++j) {
        if (j != largest && free[static_cast<size_t>(j)]) pairs.emplace_back(j, largest);
      }
    });
    MatrixXd basis = MatrixXd::Zero(size(), static_cast<Eigen::Index>(pairs.size()));
    for (size_t k = 0; k < pairs.size(); ++k) {
      basis(pairs[k].first, static_cast<Eigen::Index>(k)) = 1;
      basis(pairs[k].second, static_cast<Eigen::Index>(k)) = -1;
    }
    return basis;
  }

  const Problem& problem_;
  double least_;
  std::vector<Choice> choices_;
  std::vector<size_t> begin_;  // (views with choices + 1)
  Eigen::MatrixXi index_;      // (views, actions) into choices_, -1: none
};

void expect_ends(const Problem& problem) {
  for (const Member& each : problem.members) {
    if (each.model.discount() < 1 || each.weight <= 0) continue;
    const std::vector<char> ends =
        planning::surely_ends(each.model, planning::uniform_policy(each.model));
    for (const planning::Start& start : each.model.start()) {
      if (ends[static_cast<size_t>(start.state)]) continue;
      throw user_error("{}: without a discount, {} has to end whatever is done, and may not",
                       problem.name, each.name);
    }
  }
}

// Probabilities that only stand for zero become zero, unless that loses something.
double tidy(const Problem& problem, Policy& policy, double value) {
  Policy cleared = policy;
  for (State view = 0; view < problem.views; ++view) {
    double kept = 0;
    for (Action a = 0; a < policy.actions; ++a) {
      double& p = cleared.probabilities[static_cast<size_t>(view * policy.actions + a)];
      if (p < 10 * kInterior) p = 0;
      kept += p;
    }
    for (Action a = 0; a < policy.actions && kept > 0; ++a) {
      cleared.probabilities[static_cast<size_t>(view * policy.actions + a)] /= kept;
    }
  }
  const double there = return_of(problem, spread(problem, cleared));
  if (!(there >= value - kSame * 1e-2 * (1 + std::abs(value)))) return value;
  policy = std::move(cleared);
  return there;
}

}  // namespace

MemorylessOptimum memoryless_optimum(const Problem& problem, const MemorylessOptions& options) {
  expect_ends(problem);
  const Climb climb(problem, options);
  MemorylessOptimum best{.value = -INFINITY, .policy = {}};
  std::vector<double> values;
  for (int64_t k = 0; k < options.starts; ++k) {
    VectorXd x = climb.start(options.seed, k);
    double slope = 0;
    values.push_back(climb.run(x, slope));
    if (k > 0 && !(values.back() > best.value)) continue;
    best.value = values.back();
    best.policy = climb.policy(x);
    best.slope = slope;
  }
  best.starts = options.starts;
  for (const double each : values) {
    if (each >= best.value - kSame * (1 + std::abs(best.value))) ++best.agreed;
  }
  if (options.least <= 0) best.value = tidy(problem, best.policy, best.value);
  return best;
}

DeterministicOptimum deterministic_optimum(const Problem& problem, int64_t most) {
  const Model& model = problem.first();
  std::vector<State> at(static_cast<size_t>(problem.views),
                        planning::kNone);  // one state of a view
  for (State s = 0; s < model.states(); ++s) {
    if (!model.terminal(s)) at[static_cast<size_t>(problem.seen[static_cast<size_t>(s)])] = s;
  }
  int64_t count = 1;
  std::vector<std::vector<Action>> choices(at.size());
  for (size_t view = 0; view < at.size(); ++view) {
    for (Action a = 0; at[view] != planning::kNone && a < model.actions(); ++a) {
      if (model.has(at[view], a)) choices[view].push_back(a);
    }
    if (choices[view].empty()) continue;
    if (count > most / static_cast<int64_t>(choices[view].size())) return {};
    count *= static_cast<int64_t>(choices[view].size());
  }
  DeterministicOptimum best{.value = -INFINITY, .policy = {}};
  for (int64_t number = 0; number < count; ++number) {
    Policy policy{model.actions(), {}, std::vector<Action>(at.size(), planning::kNone)};
    int64_t rest = number;
    for (size_t view = 0; view < at.size(); ++view) {
      if (choices[view].empty()) continue;
      const auto kinds = static_cast<int64_t>(choices[view].size());
      policy.greedy[view] = choices[view][static_cast<size_t>(rest % kinds)];
      rest /= kinds;
    }
    const double value = return_of(problem, spread(problem, policy));
    if (best.exists && !(value > best.value)) continue;
    best = {true, value, std::move(policy)};
  }
  return best;
}

}  // namespace agora::agents::epistemic
