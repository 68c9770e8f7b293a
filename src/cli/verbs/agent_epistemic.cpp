#include <fmt/format.h>

#include <cmath>

#include "agents/epistemic/belief.h"
#include "agents/epistemic/bound.h"
#include "agents/epistemic/memoryless.h"
#include "agents/epistemic/problem_kind.h"
#include "base/error.h"
#include "base/progress.h"
#include "cli/kind_options.h"
#include "cli/verb.h"
#include "planning/model/text.h"
#include "planning/models/builtin.h"

namespace agora::cli::kind_agent_epistemic {
namespace {

using namespace agents::epistemic;
using planning::Action;
using planning::Policy;
using planning::State;

struct Settings {
  std::string source, weights, temperatures = "0.01 0.03 0.1 0.3 1 3 10";
  ProblemOptions problem;
  bool sees_rewards = false;
  int64_t members = 4, starts = 16;
};

// One line of the table.
struct Row {
  std::string policy;
  double value;
  std::string note = {};
};

std::vector<double> numbers(const std::string& option, std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::vector<double> all;
  for (const std::string_view word : planning::words(text)) {
    const auto value = planning::to_number(word);
    if (!value) throw user_error("{}: '{}' is no number", option, word);
    all.push_back(*value);
  }
  return all;
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "never ends";
  return std::abs(value) < 1e6 ? fmt::format("{:.6f}", value) : fmt::format("{:.6g}", value);
}

// What is done where an episode may begin.
std::string first_actions(const Problem& problem, const Policy& policy) {
  const planning::Model& model = problem.first();
  State at = model.start()[0].state;
  for (const planning::Start& each : model.start()) {
    if (each.probability > 0 && !model.terminal(each.state)) at = each.state;
  }
  std::string text = model.state_name(at) + ":";
  for (Action a = 0; a < model.actions(); ++a) {
    if (model.has(at, a) && policy(at, a) > 0) {
      text += fmt::format(" {} {:.4g}", model.action_name(a), policy(at, a));
    }
  }
  return text;
}

Json policy_json(const Problem& problem, const Policy& policy) {
  Json all = Json::object();
  const planning::Model& model = problem.first();
  for (State s = 0; s < problem.views; ++s) {
    if (model.terminal(s)) continue;
    Json one = Json::object();
    for (Action a = 0; a < model.actions(); ++a) {
      if (model.has(s, a)) one[model.action_name(a)] = policy(s, a);
    }
    all[model.state_name(s)] = std::move(one);
  }
  return all;
}

// Entropy for ever, without a discount: there is no such policy.
double entropic_return(const Problem& problem, const planning::Model& model, double temperature) {
  try {
    return return_of(problem, maximum_entropy(model, temperature));
  } catch (const UserError&) {
    return NAN;
  }
}

Json entropic(const Problem& problem, const Member& member, const std::vector<double>& temperatures,
              std::vector<Row>& rows) {
  Json all = Json::array();
  double best = NAN, at = 0;
  for (const double temperature : temperatures) {
    const double value = entropic_return(problem, member.model, temperature);
    all.push_back({{"temperature", temperature}, {"return", value}});
    if (std::isnan(value) || !(std::isnan(best) || value > best)) continue;
    best = value;
    at = temperature;
  }
  if (!std::isnan(best)) {
    rows.push_back({"maximum entropy in " + member.name, best,
                    fmt::format("temperature {:g}, the best of {}", at, temperatures.size())});
  }
  return {{"model", member.name}, {"temperatures", std::move(all)}};
}

void run(Settings settings, const Common& common) {
  settings.problem.weights = numbers("--weights", settings.weights);
  const std::vector<double> temperatures = numbers("--temperatures", settings.temperatures);
  for (const double each : temperatures) {
    if (!(each >= 0 && std::isfinite(each))) {
      throw user_error("--temperatures: {} is none, expected numbers from 0 on", each);
    }
  }
  const Problem problem = load_problem(settings.source, settings.problem);
  const planning::Model& model = problem.first();
  const BayesOptimum bayes = bayes_optimum(problem, {.sees_rewards = settings.sees_rewards});
  std::vector<Row> rows;
  std::string plan;
  for (const Action a : bayes.plan()) plan += (plan.empty() ? "" : ", ") + model.action_name(a);
  rows.push_back({"with memory", bayes.value, plan});
  const MemorylessOptions search{.starts = settings.starts, .seed = common.seed};
  const MemorylessOptimum best = memoryless_optimum(problem, search);
  const Policy wide = spread(problem, best.policy);
  rows.push_back({"without memory", best.value, first_actions(problem, wide)});
  const DeterministicOptimum fixed = deterministic_optimum(problem);
  if (fixed.exists) {
    rows.push_back({"without memory or luck", fixed.value,
                    first_actions(problem, spread(problem, fixed.policy))});
  }
  rows.push_back({"uniform", return_of(problem, uniform(problem))});
  Json optima = Json::array(), entropies = Json::array();
  std::vector<Member> trusted = problem.believed;
  trusted.insert(trusted.begin(), problem.likeliest());
  for (const Member& each : trusted) {
    const Policy policy = mdp_optimum(each.model);
    const double value = return_of(problem, policy);
    rows.push_back({"optimum of " + each.name, value, first_actions(problem, policy)});
    optima.push_back({{"model", each.name}, {"return", value}});
  }
  for (const Member& each : trusted) {
    entropies.push_back(entropic(problem, each, temperatures, rows));
  }
  Json empirical = nullptr;
  if (settings.members > 0) {
    const Problem drawn = sampled(problem, settings.members, common.seed);
    const MemorylessOptimum there = memoryless_optimum(drawn, search);
    const double value = return_of(problem, spread(problem, there.policy));
    rows.push_back({fmt::format("without memory, of {} sampled", settings.members), value,
                    fmt::format("{:.6g} in the sample", there.value)});
    empirical = {{"members", settings.members}, {"sample_return", there.value}, {"return", value}};
    if (model.discount() < 1) {
      std::vector<Policy> each;
      for (const Member& member : drawn.members) each.push_back(mdp_optimum(member.model));
      const Policy link = linked(drawn, each, agents::Link::kMax);
      const double reached = return_of(drawn, link);
      const LowerBound bound = lower_bound(drawn, link, each);
      rows.push_back({"their optima, linked", return_of(problem, link),
                      fmt::format("{:.6g} in the sample, at least {:.6g}", reached, bound.value)});
      empirical["linked"] = {{"sample_return", reached}, {"lower_bound", bound.value}};
    }
  }
  if (common.json) {
    Json weights = Json::object();
    for (const Member& each : problem.members) weights[each.name] = each.weight;
    return print_json(
        {{"problem", settings.source},
         {"states", problem.views},
         {"actions", model.actions()},
         {"discount", model.discount()},
         {"horizon", problem.horizon > 0 ? Json(problem.horizon) : Json()},
         {"weights", std::move(weights)},
         {"memory", {{"return", bayes.value}, {"beliefs", bayes.beliefs.size()}, {"plan", plan}}},
         {"memoryless",
          {{"return", best.value},
           {"starts", best.starts},
           {"agreed", best.agreed},
           {"policy", policy_json(problem, best.policy)}}},
         {"deterministic", fixed.exists ? Json(fixed.value) : Json()},
         {"uniform", return_of(problem, uniform(problem))},
         {"optima", std::move(optima)},
         {"maximum_entropy", std::move(entropies)},
         {"empirical", std::move(empirical)}});
  }
  fmt::print("{}: {} models of {} states and {} actions, discount {:g}{}\n", settings.source,
             problem.members.size(), problem.views, model.actions(), model.discount(),
             problem.horizon > 0 ? fmt::format(", {} steps", problem.horizon) : "");
  for (const Row& row : rows) {
    fmt::print("  {:<32} {:>12}  {}\n", row.policy, number_text(row.value), row.note);
  }
  fmt::print("  {} beliefs; {} of {} searches without memory agree\n", bayes.beliefs.size(),
             best.agreed, best.starts);
}

}  // namespace

Verb entry_agent_epistemic() {
  return {.name = "agent epistemic",
          .summary = "Solve a small epistemic POMDP exactly: several MDPs, and which it is unknown",
          .example = "agora agent epistemic 'guessing(labels=3)' --weights '0.5 0.3 0.2'",
          .declare = [](OptionList& app) {
            auto settings = std::make_shared<Settings>();
            std::vector<std::string> names, words;
            for (const ProblemKind& kind : problem_kinds()) {
              names.push_back(kind.name);
              words.push_back(planning::signature(kind.name, kind.parameters));
            }
            app.add("problem", settings->source,
                    fmt::format("A TOML file of [[model]] with source and weight, or one of {}",
                                fmt::join(words, ", ")))
                .required()
                .offers(names);
            app.add("--weights", settings->weights, "Numbers in place of the posterior");
            app.add("--discount", settings->problem.discount, "In place of the models' own");
            app.add("--horizon", settings->problem.horizon, "Steps of an episode at most")
                .check(between(1, 100'000));
            app.flag("--see-rewards", settings->sees_rewards,
                     "Who remembers knows the rewards too, not only states");
            app.add("--temperatures", settings->temperatures, "Of maximum-entropy policies")
                .shows_default();
            app.add("--members", settings->members,
                    "Models drawn for the empirical epistemic POMDP; 0: none")
                .check(between(0, 1000))
                .shows_default();
            app.add("--starts", settings->starts, "Of the search for a policy without memory")
                .check(between(1, 10'000))
                .shows_default();
            return [settings](const Common& common) { run(*settings, common); };
          }};
}

}  // namespace agora::cli::kind_agent_epistemic
