#include <agora/planning/load.h>
#include <agora/planning/solve.h>

#include <cmath>

#include "experiments/numbers.h"

namespace agora::reproduce::kind_ch2_contraction {
namespace {

using namespace planning;

constexpr double kBeta = 0.02;                  // small, so that the bound d e^mu is nearly reached
const double kBelow[] = {0.05, 0.1, 0.3, 1.0};  // mu = -log d - this

// Z_{n+1} = C(beta) Z_n, where C sums over actions.
std::vector<double> power_step(const Model& model, double mu, const std::vector<double>& z) {
  std::vector<double> next(z.size());
  for (State s = 0; s < model.states(); ++s) {
    const size_t i = static_cast<size_t>(s);
    if (model.terminal(s)) {
      next[i] = z[i];
      continue;
    }
    for (Action a = 0; a < model.actions(); ++a) {
      if (!model.has(s, a)) continue;
      const auto t = model.transition(s, a, 0);
      next[i] += std::exp(kBeta * t.reward + mu) * z[static_cast<size_t>(t.next)];
    }
  }
  return next;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

Json run(Task& task) {
  const Model model =
      load(task.quick() ? "maze(rows=15,cols=15,loops=1/2)" : "maze(rows=31,cols=31,loops=1/2)");
  Json result = Json::array();
  for (const double below : kBelow) {
    const double mu = -std::log(4.0) - below;
    const Solution solved =
        PartitionFunction{.beta = kBeta, .mu = mu, .tolerance = 1e-12, .method = "z-linear"}(model);
    std::vector<double> exact(solved.log_z.size()), z(exact.size(), 1.0);
    for (size_t i = 0; i < exact.size(); ++i) exact[i] = std::exp(solved.log_z[i]);
    for (const Terminal& end : model.terminals()) {
      z[static_cast<size_t>(end.state)] = std::exp(kBeta * end.reward);
    }
    // Errors until rounding shows.
    std::vector<double> errors{distance(z, exact)};
    double worst_ratio = 0;
    while (errors.back() > 1e-8 && errors.size() < 2000) {
      z = power_step(model, mu, z);
      errors.push_back(distance(z, exact));
      worst_ratio = std::max(worst_ratio, errors.back() / errors[errors.size() - 2]);
    }
    const double last_ratio = errors.back() / errors[errors.size() - 2];
    while (errors.size() < 5000) {  // to the end, to compare the answers
      std::vector<double> next = power_step(model, mu, z);
      if (next == z) break;
      z = std::move(next);
      errors.push_back(distance(z, exact));
    }
    double relative = 0;
    for (size_t i = 0; i < z.size(); ++i) {
      relative = std::max(relative, std::abs(z[i] / exact[i] - 1));
    }
    result.push_back({{"below", below},
                      {"bound", 4 * std::exp(mu)},
                      {"worst_ratio", worst_ratio},
                      {"last_ratio", last_ratio},
                      {"relative_difference", relative},
                      {"errors", errors}});
  }
  return {{"potentials", result}};
}

Judgement judge(Scale, const std::vector<Json>& results) {
  Judgement outcome;
  report::LineChart chart{.title = "Power iteration",
                          .caption =
                              "Solid: sup-norm error of Z after n applications of C(β); "
                              "dashed: the bound (d e^μ)^n of the appendix.",
                          .x = {.title = "n"},
                          .y = {.title = "max |Z_n - Z|", .log = true, .low = 1e-9}};
  for (const Json& one : results.front().at("potentials")) {
    const std::string mu = fmt::format("μ = -log 4 - {:g}", one["below"].get<double>());
    const auto bound = one["bound"].get<double>();
    outcome.findings.push_back(finding(mu + ": largest ratio of successive errors",
                                       fmt::format("≤ d e^μ = {:.6f}", bound),
                                       {one["worst_ratio"].get<double>()}, at_most(bound + 1e-9)));
    outcome.findings.push_back(finding(mu + ": power iteration against the linear solve, relative",
                                       "the same Z", {one["relative_difference"].get<double>()},
                                       at_most(1e-9)));
    std::vector<double> n, bounds;
    const auto errors = one["errors"].get<std::vector<double>>();
    for (size_t i = 0; i < errors.size() && errors[i] > 1e-9; ++i) {
      n.push_back(static_cast<double>(i));
      bounds.push_back(errors[0] * std::pow(bound, static_cast<double>(i)));
    }
    chart.series.push_back(
        {.name = mu, .x = n, .y = {errors.begin(), errors.begin() + static_cast<long>(n.size())}});
    chart.series.push_back({.name = mu + ", bound", .x = n, .y = bounds, .dashed = true});
  }
  outcome.charts.push_back(std::move(chart));
  outcome.remark =
      fmt::format("β = {}; a step costs 1, so that the true rate is a little below.", kBeta);
  return outcome;
}

}  // namespace

Experiment entry_ch2_contraction() {
  return {.name = "ch2-contraction",
          .chapter = 2,
          .title = "Power iteration against the linear solve, with the contraction rate",
          .source = "ch. 2, a planning algorithm; appendix, X → C(β)X is a contraction",
          .quick = {.seeds = {0}, .expected_seconds = 1, .words = "a 15 x 15 maze"},
          .full = {.seeds = {0}, .expected_seconds = 3, .words = "a 31 x 31 maze"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch2_contraction
