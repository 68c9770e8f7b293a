#include "cli/plan_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/progress.h"
#include "cli/plan_model.h"
#include "cli/plan_solving.h"

namespace agora::cli {
namespace {

using planning::Action;
using planning::Model;
using planning::Solution;
using planning::State;

PlanAnswer answer_of(const std::string& source, const Solution& solution) {
  return {.source = source,
          .model = {},
          .states = 0,
          .method = solution.method,
          .start = {},
          .beta = solution.beta,
          .mu = solution.mu,
          .discount = solution.discount,
          .value = 0,
          .log_z = {},
          .policy_earns = {},
          .action = {},
          .actions = {},
          .policy = {},
          .residual = solution.residual,
          .bound = solution.bound,
          .sweeps = solution.sweeps,
          .seconds = solution.seconds,
          .ranks = 0,
          .solver = {}};
}

Json number(double value) { return std::isfinite(value) ? Json(value) : nullptr; }

}  // namespace

PlanAnswer plan_answer(const std::string& source, const Model& model, const Solution& solution) {
  PlanAnswer answer = answer_of(source, solution);
  answer.model = describe(model);
  answer.states = model.states();
  answer.start = describe_start(model);
  answer.value = start_value(model, solution);
  if (!solution.log_z.empty()) answer.log_z = start_log_z(model, solution);
  if (!solution.policy_value.empty()) {
    answer.policy_earns = 0;
    for (const auto& [s, p] : model.start()) {
      *answer.policy_earns += p * solution.policy_value[static_cast<size_t>(s)];
    }
  }
  const State start = model.start()[0].state;
  if (model.start().size() > 1 || model.terminal(start) || solution.policy.empty()) return answer;
  if (const Action best = solution.policy.best(start); best != planning::kNone) {
    answer.action = model.action_name(best);
  }
  for (Action a = 0; a < model.actions(); ++a) {
    answer.actions.push_back(model.action_name(a));
    answer.policy.push_back(model.has(start, a) ? solution.policy(start, a) : -1.0);
  }
  return answer;
}

PlanAnswer plan_answer(const std::string& source, const planning::DistributedSolution& shared) {
  PlanAnswer answer = answer_of(source, shared.solution);
  answer.states = shared.share.total;
  answer.model = fmt::format("{} states", shared.share.total);
  answer.start = shared.start;
  answer.value = shared.value;
  answer.log_z = shared.log_z;
  answer.actions = shared.actions;
  answer.policy = shared.policy;
  if (!shared.policy.empty()) {
    const auto best = std::max_element(shared.policy.begin(), shared.policy.end());
    answer.action = shared.actions[static_cast<size_t>(best - shared.policy.begin())];
  }
  answer.ranks = shared.ranks;
  answer.solver = shared.solver;
  return answer;
}

std::vector<report::Fact> PlanAnswer::facts() const {
  std::vector<report::Fact> all{
      {"model", fmt::format("{}: {}", source, model)},
      {"method", log_z ? fmt::format("{} (beta {}, mu {:.6g})", method, beta, mu)
                       : fmt::format("{} (discount {})", method, discount)}};
  if (ranks > 0) all.insert(all.end(), {{"ranks", std::to_string(ranks)}, {"solver", solver}});
  all.push_back({"start", start});
  all.push_back({"value", fmt::format("{:.10g}", value)});
  if (log_z) all.push_back({"log Z", fmt::format("{:.10g}", *log_z)});
  if (policy_earns) all.push_back({"policy earns", fmt::format("{:.10g}", *policy_earns)});
  if (!action.empty()) {
    std::string words;
    for (size_t a = 0; a < policy.size(); ++a) {
      if (policy[a] < 0) continue;
      words += fmt::format("{}{} {:.4g}", words.empty() ? "" : ", ", actions[a], policy[a]);
    }
    all.insert(all.end(), {{"action", action}, {"policy", words}});
  }
  all.push_back({"residual", std::isfinite(bound)
                                 ? fmt::format("{:.2g} (error at most {:.2g})", residual, bound)
                                 : fmt::format("{:.2g} (error unknown)", residual)});
  all.push_back({ranks > 0 ? "iterations" : "sweeps", std::to_string(sweeps)});
  all.push_back({"time", duration_text(seconds)});
  return all;
}

Json PlanAnswer::json() const {
  Json result{{"model", source},
              {"method", method},
              {"states", states},
              {"beta", log_z ? number(beta) : nullptr},
              {"mu", log_z ? number(mu) : nullptr},
              {"start", start},
              {"value", number(value)},
              {"log_z", log_z ? number(*log_z) : nullptr},
              {"residual", number(residual)},
              {"sweeps", sweeps},
              {"seconds", seconds},
              {"action", nullptr},
              {"policy", nullptr}};
  if (log_z && std::isinf(beta)) result["beta"] = "inf";
  if (!action.empty()) result["action"] = action;
  if (!policy.empty()) {
    result["policy"] = Json::array();
    for (const double p : policy) result["policy"].push_back(number(std::max(p, 0.0)));
  }
  if (ranks > 0) {
    result["ranks"] = ranks;
    result["solver"] = solver;
  }
  return result;
}

}  // namespace agora::cli
