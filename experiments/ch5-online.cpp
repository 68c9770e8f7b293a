// Values drift from U[0,1] to U[0,2] while the auctions go on: who keeps up?
#include <algorithm>
#include <functional>

#include "auctions/audit/audit.h"
#include "reproduce/auction_stages.h"

namespace agora::reproduce::kind_ch5_online {
namespace {

using namespace auctions;

constexpr int kPoints = 20;
constexpr double kOptimum = 0.549201;  // times 1 + t

struct Method {
  std::string stage, network, words;
  bool online;
};
const Method kMethods[] = {{"algnet", "algnet", "ALGnet", true},
                           {"regretnet-online", "regretnet", "RegretNet, online", true},
                           {"regretnet-offline", "regretnet", "RegretNet, offline", false}};

Json run(Task& task) {
  Stages stages(task);
  const Setting law = setting("online");
  Json result = Json::object();
  for (const Method& method : kMethods) {
    result[method.stage] = stages.stage(method.stage, [&] {
      Recipe recipe =
          recipe_for(task, method.network, law, method.network == "algnet" ? 300 : 2'000);
      // The law never stops moving, nor do the rates; averages reach back little.
      recipe.final_rate = recipe.rate;
      recipe.averaging = std::min(recipe.averaging, 0.98);
      recipe.samples = method.online ? 0 : 640'000;
      const auto time = [&](int64_t iteration) {
        return static_cast<double>(iteration) / static_cast<double>(recipe.iterations);
      };
      const auto look = [&](int64_t iteration, const Mechanism& mechanism, TrainingNumbers) {
        const Setting now = law.at(time(iteration));
        const AuditOptions options{.regret_profiles = task.quick() ? 60 : 500, .seed = task.seed};
        const double revenue = evaluate(mechanism, now, {.seed = task.seed}).revenue;
        const double regret = strong_regret(mechanism, now, options).mean;
        return Json{{"t", time(iteration)},
                    {"revenue", revenue},
                    {"regret", regret},
                    {"p_star", p_star(revenue, regret)}};
      };
      const auto drift = [&](int64_t iteration, Trainer& trainer) {
        if (method.online) trainer.move_to(law.at(time(iteration)));
      };
      // Whoever follows the stream is built for bids up to the last bound.
      const Setting built_for = method.online ? law.at(1) : law;
      auto trained =
          train(stages, {method.network, built_for, recipe, task.seed}, {kPoints, look, drift});
      return Json{{"seen", std::move(trained.seen)}};
    });
  }
  return result;
}

// Mean of P* as a share of the optimum at that time, over the looks with from < t <= to.
double kept(const Json& result, const std::string& stage, double from, double to) {
  double sum = 0;
  int count = 0;
  for (const Json& one : result.at(stage).at("seen")) {
    const auto t = one.at("t").get<double>();
    if (t <= from || t > to) continue;
    sum += one.at("p_star").get<double>() / (kOptimum * (1 + t));
    ++count;
  }
  return sum / count;
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement outcome;
  const auto each = [&](const std::function<double(const Json&)>& number) {
    std::vector<double> all;
    for (const Json& result : results) all.push_back(number(result));
    return all;
  };
  const auto ahead = [&](const std::string& other, double from, double to) {
    return each([&](const Json& result) {
      return kept(result, "algnet", from, to) - kept(result, other, from, to);
    });
  };
  outcome.findings.push_back(
      finding(scale, "ALGnet: P* / optimum for t from 1/2 to 1", "the best of the three",
              each([](const Json& result) { return kept(result, "algnet", 0.5, 1); }),
              at_least(0.85), at_least(0.65)));
  outcome.findings.push_back(finding(scale, "ALGnet's less offline RegretNet's, t from 1/2 to 1",
                                     "> 0", ahead("regretnet-offline", 0.5, 1), at_least(0.05),
                                     at_least(0.02)));
  outcome.findings.push_back(
      finding("offline RegretNet: P* / optimum, t from 1/4 to 1/2, less that from 3/4 to 1",
              "does not adapt", each([](const Json& result) {
                return kept(result, "regretnet-offline", 0.25, 0.5) -
                       kept(result, "regretnet-offline", 0.75, 1);
              }),
              at_least(0.02)));
  const std::pair<std::string, double> online[] = {
      {"ALGnet's less online RegretNet's, t up to 1/4", 0.25},
      {"ALGnet's less online RegretNet's, all t", 1}};
  for (const auto& [what, until] : online) {
    const std::vector<double> ours = ahead("regretnet-online", 0, until);
    outcome.findings.push_back(
        scale == Scale::kQuick
            ? not_judged(what, "> 0", ours,
                         "300 iterations of ALGnet's see as much time pass as 2,000 of RegretNet's")
            : finding(what, "> 0", ours, at_least(0.0)));
  }
  const std::pair<std::string, std::string> shown[] = {
      {"revenue", "Revenue"}, {"regret", "Regret, strong test"}, {"p_star", "P*"}};
  for (const auto& [key, words] : shown) {
    report::LineChart chart{.title = words + ", values U[0,1+t]",
                            .x = {.title = "t"},
                            .y = {.title = words, .log = key == "regret"}};
    for (const Method& method : kMethods) {
      chart.series.push_back(seen_curve(method.words, results, method.stage, "t", key));
    }
    if (key != "regret") {
      chart.series.push_back(
          {.name = "optimum", .x = {0, 1}, .y = {kOptimum, 2 * kOptimum}, .dashed = true});
    }
    outcome.charts.emplace_back(std::move(chart));
  }
  outcome.remark =
      "Each method starts untrained at t = 0. The offline RegretNet learns from a fixed sample of "
      "U[0,1]; regret is the strong test's over bids in [0,1+t].";
  return outcome;
}

}  // namespace

Experiment entry_ch5_online() {
  return {.name = "ch5-online",
          .chapter = 5,
          .title = "Online auction: values drift from U[0,1] to U[0,2]",
          .source = "ch. 5, Online auctions, figure (d)-(f)",
          .quick = {.seeds = {1}, .expected_seconds = 30, .words = "300 and 2,000 iterations"},
          .full = {.seeds = {1}, .expected_seconds = 1'200, .words = "the shipped recipes"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch5_online
