#include <agora/planning/load.h>
#include <agora/planning/solve.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/numbers.h"

namespace agora::reproduce::kind_ch2_temperature_limits {
namespace {

using namespace planning;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const char* const kModels[] = {"maze(rows=11,cols=11,loops=1/3)", "cliffwalking",
                               "random(states=200,actions=3,branching=1,terminals=3)"};

double default_mu(const Model& model) { return -std::log(model.actions()) - 0.1; }

// sum over trajectories from s of e^(mu length), one length after the other: no linear system.
std::vector<double> weighted_counts(const Model& model, double mu) {
  const size_t states = static_cast<size_t>(model.states());
  std::vector<double> ending(states), next(states), sum(states);
  for (State s = 0; s < model.states(); ++s) ending[static_cast<size_t>(s)] = model.terminal(s);
  for (double most = 1; most > 1e-18;) {
    most = 0;
    for (State s = 0; s < model.states(); ++s) {
      const size_t i = static_cast<size_t>(s);
      sum[i] += ending[i];
      next[i] = 0;
      for (Action a = 0; a < model.actions(); ++a) {
        if (!model.has(s, a)) continue;
        next[i] += std::exp(mu) * ending[static_cast<size_t>(model.transition(s, a, 0).next)];
      }
      most = std::max(most, next[i]);
    }
    ending.swap(next);
  }
  return sum;
}

// N_max: sum over the best trajectories from s of e^(mu length). Steps that cost nothing could
// make a best trajectory come back to a state; the models here have none.
std::vector<double> best_counts(const Model& model, const std::vector<double>& best, double mu) {
  std::vector<double> counts(best.size());
  std::vector<State> order(best.size());
  for (State s = 0; s < model.states(); ++s) order[static_cast<size_t>(s)] = s;
  std::sort(order.begin(), order.end(), [&](State one, State other) {
    return best[static_cast<size_t>(one)] > best[static_cast<size_t>(other)];
  });
  // Rewards of steps are negative, so a best successor is worth more and comes first.
  for (const State s : order) counts[static_cast<size_t>(s)] = model.terminal(s) ? 1 : 0;
  for (const State s : order) {
    for (Action a = 0; a < model.actions(); ++a) {
      if (!model.has(s, a)) continue;
      const auto t = model.transition(s, a, 0);
      const double gap =
          t.reward + best[static_cast<size_t>(t.next)] - best[static_cast<size_t>(s)];
      if (std::abs(gap) < 1e-9) {
        counts[static_cast<size_t>(s)] += std::exp(mu) * counts[static_cast<size_t>(t.next)];
      }
    }
  }
  return counts;
}

// pi(a|s) in proportion to weight(s + a), over the actions with `allowed`.
template <typename Allowed>
double largest_difference(const Model& model, const Policy& policy,
                          const std::vector<double>& weight, Allowed allowed) {
  double largest = 0;
  for (State s = 0; s < model.states(); ++s) {
    double sum = 0;
    for (Action a = 0; a < model.actions(); ++a) {
      if (model.has(s, a) && allowed(s, a)) {
        sum += weight[static_cast<size_t>(model.transition(s, a, 0).next)];
      }
    }
    if (sum == 0) continue;
    for (Action a = 0; a < model.actions(); ++a) {
      if (!model.has(s, a)) continue;
      const double expected =
          allowed(s, a) ? weight[static_cast<size_t>(model.transition(s, a, 0).next)] / sum : 0;
      largest = std::max(largest, std::abs(policy(s, a) - expected));
    }
  }
  return largest;
}

Json run(Task& task) {
  Json result = Json::object();
  std::vector<double> betas;
  for (double beta = 0.25; beta <= 1024; beta *= task.quick() ? 4 : 2) betas.push_back(beta);
  for (const char* name : kModels) {
    const Model model = load(name);
    const double mu = default_mu(model);
    const PartitionFunction z{.mu = mu, .tolerance = 1e-11};
    const std::vector<double> best =
        ValueIteration{.discount = 1.0, .tolerance = 1e-11}(model).value;
    const auto at = [&](double beta) {
      PartitionFunction here = z;
      here.beta = beta;
      return here(model);
    };
    const Solution hot = at(0), cold = at(kInfinity);
    std::vector<double> distance;
    for (const double beta : betas) {
      const Solution solution = at(beta);
      double most = 0;
      for (size_t s = 0; s < best.size(); ++s) {
        if (std::isfinite(solution.log_z[s])) {
          most = std::max(most, std::abs(solution.value[s] - best[s]));
        }
      }
      distance.push_back(most);
    }
    double cold_value = 0;
    for (size_t s = 0; s < best.size(); ++s) {
      if (std::isfinite(cold.value[s])) {
        cold_value = std::max(cold_value, std::abs(cold.value[s] - best[s]));
      }
    }
    const double hot_difference = largest_difference(model, hot.policy, weighted_counts(model, mu),
                                                     [](State, Action) { return true; });
    const double cold_difference = largest_difference(
        model, cold.policy, best_counts(model, best, mu), [&](State s, Action a) {
          const auto t = model.transition(s, a, 0);
          return std::abs(t.reward + best[static_cast<size_t>(t.next)] -
                          best[static_cast<size_t>(s)]) < 1e-9;
        });
    result[name] = {{"beta", betas},
                    {"distance", distance},
                    {"hot_policy", hot_difference},
                    {"cold_policy", cold_difference},
                    {"cold_value", cold_value}};
  }
  return result;
}

Judgement judge(Scale, const std::vector<Json>& results) {
  const Json& result = results.front();
  Judgement outcome;
  report::LineChart chart{.title = "How fast the value approaches the optimum",
                          .caption =
                              "Largest difference over the states between V(β) = ∂ log Z / "
                              "∂β and the optimal value.",
                          .x = {.title = "β", .log = true},
                          .y = {.title = "max |V(β) - V*|", .log = true}};
  for (const char* name : kModels) {
    const Json& one = result.at(name);
    const std::string model = name;
    outcome.findings.push_back(finding(model + ", β → 0: policy against the count of trajectories",
                                       "π ∝ Σ e^(μ|ω|)", {one["hot_policy"].get<double>()},
                                       at_most(1e-8)));
    outcome.findings.push_back(
        finding(model + ", β → ∞: policy against the count of best trajectories", "π ∝ N_max",
                {one["cold_policy"].get<double>()}, at_most(1e-8)));
    outcome.findings.push_back(finding(model + ", β → ∞: value against the optimum", "V → V*",
                                       {one["cold_value"].get<double>()}, at_most(1e-8)));
    const auto distance = one["distance"].get<std::vector<double>>();
    CHECK(!distance.empty(), "no distances of {}", model);
    outcome.findings.push_back(
        finding(fmt::format("{}, β = {:g}: largest distance from the optimum", model,
                            one["beta"].back().get<double>()),
                "V → V*", {distance.back()}, at_most(distance.front() / 100)));
    chart.series.push_back({.name = model,
                            .x = one["beta"].get<std::vector<double>>(),
                            .y = distance,
                            .markers = true});
  }
  outcome.charts.push_back(std::move(chart));
  outcome.remark =
      "Largest differences over all states and actions; the counts are made without partition "
      "functions: length by length for β → 0, from value iteration for β → ∞.";
  return outcome;
}

}  // namespace

Experiment entry_ch2_temperature_limits() {
  return {.name = "ch2-temperature-limits",
          .chapter = 2,
          .title = "Both limits of the temperature on mazes, cliffs and random models",
          .source = "ch. 2, the underlying value function and policy; appendix, Boltzmann-like",
          .quick = {.seeds = {0}, .expected_seconds = 2, .words = "exact, 7 temperatures"},
          .full = {.seeds = {0}, .expected_seconds = 3, .words = "exact, 13 temperatures"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch2_temperature_limits
