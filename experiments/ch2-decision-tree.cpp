#include <agora/planning/load.h>
#include <agora/planning/solve.h>

#include <array>
#include <cmath>
#include <limits>

#include "experiments/numbers.h"

namespace agora::reproduce::kind_ch2_decision_tree {
namespace {

using namespace planning;

constexpr double kMu = -1.5;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Three = std::array<double, 3>;

Three first_action(const Model& tree, double beta) {
  const Solution solution = PartitionFunction{.beta = beta, .mu = kMu, .tolerance = 1e-12}(tree);
  return {solution.policy(0, 0), solution.policy(0, 1), solution.policy(0, 2)};
}

// The thesis's own formula: 2 e^(beta + 2 mu), e^(beta + 2 mu) and e^(2 mu), normalised.
Three closed_form(double beta) {
  if (std::isinf(beta)) return {2.0 / 3, 1.0 / 3, 0};
  const double sum = 3 + std::exp(-beta);
  return {2 / sum, 1 / sum, std::exp(-beta) / sum};
}

// In proportion to e^(beta V*(s + a)), with V* = 1, 1, 0.
Three boltzmann(const Model& tree, double beta) {
  const Solution best = ValueIteration{.discount = 1.0, .tolerance = 1e-12}(tree);
  Three policy;
  double sum = 0;
  for (size_t a = 0; a < 3; ++a) {
    const double worse = best.value[a + 1] - best.value[0];
    sum += policy[a] = worse == 0 ? 1 : std::isinf(beta) ? 0 : std::exp(beta * worse);
  }
  for (double& p : policy) p /= sum;
  return policy;
}

Json run(Task&) {
  const Model tree = load("decision-tree");
  std::vector<double> betas;
  std::array<std::vector<double>, 3> ours, reference;
  double largest = 0;
  for (double beta = 0; beta <= 10; beta += 0.25) {
    betas.push_back(beta);
    const Three found = first_action(tree, beta), exact = closed_form(beta);
    const Three plain = boltzmann(tree, beta);
    for (size_t a = 0; a < 3; ++a) {
      ours[a].push_back(found[a]);
      reference[a].push_back(plain[a]);
      largest = std::max(largest, std::abs(found[a] - exact[a]));
    }
  }
  const Solution at_one = PartitionFunction{.beta = 1.0, .mu = kMu, .tolerance = 1e-12}(tree);
  return {{"beta", betas},
          {"ours", ours},
          {"boltzmann", reference},
          {"cold", first_action(tree, kInfinity)},
          {"cold_boltzmann", boltzmann(tree, kInfinity)},
          {"largest_difference", largest},
          {"log_z", at_one.log_z[0]}};
}

Judgement judge(Scale, const std::vector<Json>& results) {
  const Json& result = results.front();
  Judgement outcome;
  const char* const hot[] = {"1/2", "1/4", "1/4"};
  const char* const cold[] = {"2/3", "1/3", "0"};
  const char* const cold_plain[] = {"1/2", "1/2", "0"};
  const double hot_values[] = {.5, .25, .25};
  const double cold_values[] = {2.0 / 3, 1.0 / 3, 0};
  const double cold_plain_values[] = {.5, .5, 0};
  const auto add = [&](std::string what, const char* published, const Json& ours, double expected) {
    outcome.findings.push_back(
        finding(std::move(what), published, {ours.get<double>()}, within(expected, 1e-9)));
  };
  for (size_t a = 0; a < 3; ++a) {
    const std::string name = "π(" + std::to_string(a + 1) + "|0)";
    add(name + ", β → 0", hot[a], result["ours"][a][0], hot_values[a]);
    add(name + ", β → ∞", cold[a], result["cold"][a], cold_values[a]);
    add(name + ", β → 0, Boltzmann", "1/3", result["boltzmann"][a][0], 1.0 / 3);
    add(name + ", β → ∞, Boltzmann", cold_plain[a], result["cold_boltzmann"][a],
        cold_plain_values[a]);
  }
  add("log Z(S0) at β = 1, μ = -1.5", "log(3e^(β+2μ) + e^(2μ))", result["log_z"],
      std::log(3 * std::exp(1 + 2 * kMu) + std::exp(2 * kMu)));
  outcome.findings.push_back(finding("largest difference from the closed form, β from 0 to 10", "",
                                     numbers(results, "largest_difference"), at_most(1e-9)));
  report::LineChart chart{
      .title = "First action in the decision tree",
      .caption = "Solid: from the partition function, which counts ways; dashed: Boltzmann policy.",
      .x = {.title = "β"},
      .y = {.title = "probability", .low = 0.0, .high = 1.0}};
  const auto betas = result["beta"].get<std::vector<double>>();
  for (size_t a = 0; a < 3; ++a) {
    const std::string name = "action " + std::to_string(a + 1);
    chart.series.push_back(
        {.name = name, .x = betas, .y = result["ours"][a].get<std::vector<double>>()});
    chart.series.push_back({.name = name + ", Boltzmann",
                            .x = betas,
                            .y = result["boltzmann"][a].get<std::vector<double>>(),
                            .dashed = true});
  }
  outcome.charts.push_back(std::move(chart));
  return outcome;
}

}  // namespace

Experiment entry_ch2_decision_tree() {
  return {.name = "ch2-decision-tree",
          .chapter = 2,
          .title = "The decision tree: which first action, from hot to cold",
          .source = "ch. 2, the figure of the decision tree and the limits beside it",
          .quick = {.seeds = {0}, .expected_seconds = 1, .words = "exact"},
          .full = {.seeds = {0}, .expected_seconds = 1, .words = "exact"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch2_decision_tree
