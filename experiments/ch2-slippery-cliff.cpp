#include <agora/planning/load.h>
#include <agora/planning/solve.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "experiments/numbers.h"
#include "report/grid_policy.h"

namespace agora::reproduce::kind_ch2_slippery_cliff {
namespace {

using namespace planning;

constexpr double kSlip = 0.1, kPit = -100, kDrawnBeta = 1.0;
const char* const kMethods[] = {"z-averaged", "z-variational"};

Model cliff() { return load(fmt::format("slippery-cliff(slip={},pit={})", kSlip, kPit)); }

// The same map where only falling counts: the value of a policy is its risk.
Model falling() { return load(fmt::format("slippery-cliff(slip={},pit=1,step=0)", kSlip)); }

double at_start(const Model& model, const std::vector<double>& values) {
  double sum = 0;
  for (const auto& [s, p] : model.start()) sum += p * values[static_cast<size_t>(s)];
  return sum;
}

Solution solve_at(const Model& model, const std::string& method, double beta) {
  SolveOptions options;
  options.beta = beta;
  options.tolerance = 1e-9;
  return solve(model, method, options);
}

// What the equation believes to be worth, the derivative of log Z by beta, without its policy.
double believed_at(const Model& model, const std::string& method, double beta) {
  constexpr double kStep = 1e-4;
  const auto log_z = [&](double at) { return at_start(model, solve_at(model, method, at).log_z); };
  return (log_z(beta + kStep) - log_z(beta - kStep)) / (2 * kStep);
}

Json run(Task& task) {
  const Model model = cliff(), risk = falling();
  const std::vector<double> betas = task.quick() ? std::vector<double>{.25, .5, 1, 2, 4}
                                                 : std::vector<double>{.125, .25, .5, 1, 2, 4, 8};
  Json result{{"optimum", start_value(model, solve_at(model, "vi", 1.0))},
              {"beta", betas},
              {"drawn", Json::object()}};
  for (const std::string method : kMethods) {
    std::vector<double> believed, earned, falls;
    for (const double beta : betas) {
      const Solution solution = solve_at(model, method, beta);
      believed.push_back(believed_at(model, method, beta));
      earned.push_back(at_start(model, evaluate(model, solution.policy)));
      falls.push_back(at_start(risk, evaluate(risk, solution.policy)));
      if (beta == kDrawnBeta) {
        result["drawn"][method] = {{"policy", solution.policy.probabilities},
                                   {"value", solution.value}};
      }
    }
    result[method] = {{"believed", believed}, {"earned", earned}, {"falls", falls}};
  }
  return result;
}

report::Chart drawing(const Json& drawn, const std::string& method, const std::string& words) {
  const Model model = cliff();
  Solution solution;
  solution.policy.actions = model.actions();
  solution.policy.probabilities = drawn.at(method).at("policy").get<std::vector<double>>();
  solution.value = drawn.at(method).at("value").get<std::vector<double>>();
  const auto states = static_cast<size_t>(model.states());
  const auto actions = static_cast<size_t>(model.actions());
  CHECK(solution.policy.probabilities.size() == states * actions && solution.value.size() == states,
        "{} was drawn on another cliff", method);
  report::GridPicture picture = report::grid_policy(model, solution, method);
  picture.caption = words;
  return picture;
}

Judgement judge(Scale, const std::vector<Json>& results) {
  const Json& result = results.front();
  const auto optimum = result["optimum"].get<double>();
  const auto betas = result["beta"].get<std::vector<double>>();
  using Number = std::function<double(const Json& averaged, const Json& variational, size_t k)>;
  const auto of = [](const Json& method, const char* what, size_t k) {
    return method.at(what).at(k).get<double>();
  };
  Judgement outcome;
  // The seed plays no part; the temperatures are judged one by one, as seeds are elsewhere.
  const auto judge = [&](const std::string& what, const std::string& published, const Rule& rule,
                         const Number& number, double from_beta = 0) {
    std::vector<double> all;
    for (size_t k = 0; k < betas.size(); ++k) {
      if (betas[k] < from_beta) continue;
      all.push_back(number(result.at("z-averaged"), result.at("z-variational"), k));
    }
    outcome.findings.push_back(finding(what, published, all, rule));
  };
  // Where it is hot, even a belief in luck is below what is possible.
  judge(
      "averaged, β ≥ 1: what it believes to earn, above the optimum by", "unrealistic", at_least(1),
      [&](const Json& averaged, const Json&, size_t k) {
        return of(averaged, "believed", k) - optimum;
      },
      1);
  judge("averaged: belief above what its policy earns, by", "unrealistic", at_least(1),
        [&](const Json& averaged, const Json&, size_t k) {
          return of(averaged, "believed", k) - of(averaged, "earned", k);
        });
  judge("variational: belief less what its policy earns", "realistic", within(0, 1e-3),
        [&](const Json&, const Json& variational, size_t k) {
          return of(variational, "believed", k) - of(variational, "earned", k);
        });
  judge("risk of a fall: averaged less variational", "risky", at_least(0.05),
        [&](const Json& averaged, const Json& variational, size_t k) {
          return of(averaged, "falls", k) - of(variational, "falls", k);
        });
  judge("variational earns more than averaged, by", "", at_least(1),
        [&](const Json& averaged, const Json& variational, size_t k) {
          return of(variational, "earned", k) - of(averaged, "earned", k);
        });

  report::LineChart returns{.title = "What the policies earn, and what they believe",
                            .caption =
                                "At the start; the averaged equation promises more than "
                                "anyone can earn.",
                            .x = {.title = "β", .log = true},
                            .y = {.title = "return"}};
  report::LineChart falls{.title = "Risk of falling",
                          .x = {.title = "β", .log = true},
                          .y = {.title = "probability of ending in a pit"}};
  for (const std::string method : kMethods) {
    const auto numbers_of = [&](const char* key) {
      return result.at(method).at(key).get<std::vector<double>>();
    };
    returns.series.push_back(
        {.name = method + " earns", .x = betas, .y = numbers_of("earned"), .markers = true});
    returns.series.push_back(
        {.name = method + " believes", .x = betas, .y = numbers_of("believed"), .dashed = true});
    falls.series.push_back({.name = method, .x = betas, .y = numbers_of("falls"), .markers = true});
  }
  returns.series.push_back({.name = "optimum",
                            .x = betas,
                            .y = std::vector<double>(betas.size(), optimum),
                            .dashed = true});
  const size_t drawn =
      static_cast<size_t>(std::find(betas.begin(), betas.end(), kDrawnBeta) - betas.begin());
  const std::string risk =
      "Colours: what it believes a cell is worth, at β = 1. Falls with "
      "probability {:.3f}.";
  outcome.charts = {
      drawing(result["drawn"], "z-averaged",
              fmt::format(fmt::runtime(risk), of(result["z-averaged"], "falls", drawn))),
      drawing(result["drawn"], "z-variational",
              fmt::format(fmt::runtime(risk), of(result["z-variational"], "falls", drawn))),
      returns, falls};
  outcome.remark = fmt::format(
      "Four by twelve cells, slip {}, a step costs 1 and a pit {}. The averaged equation's own "
      "policy "
      "depends on the landing state and cannot be executed: it believes to choose any transition "
      "and bets on unlikely ones. What is evaluated is the executable "
      "π(a|s) ∝ Σ P e^(βR) Z(s'). What an equation believes is the derivative of log Z by β, taken "
      "by "
      "differences; evaluations of policies are exact. A rule holds at every temperature.",
      kSlip, -kPit);
  return outcome;
}

}  // namespace

Experiment entry_ch2_slippery_cliff() {
  return {.name = "ch2-slippery-cliff",
          .chapter = 2,
          .title = "The unrealistic policy against the variational one on a slippery cliff",
          .source = "ch. 2, averaging the Bellman equation; a variational approach",
          .quick = {.seeds = {0}, .expected_seconds = 1, .words = "exact"},
          .full = {.seeds = {0}, .expected_seconds = 1, .words = "exact, more temperatures"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch2_slippery_cliff
