// Values drift from U[0,1] to U[0,2] while the auctions go on: who keeps up?
#include <algorithm>

#include "auctions/audit/audit.h"
#include "reproduce/stages.h"

namespace agora::reproduce {
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
          recipe_for(task, method.network, law, method.network == "algnet" ? 4'000 : 6'000);
      // The law never stops moving, nor do the rates; averages reach back little.
      recipe.final_rate = recipe.rate;
      recipe.averaging = std::min(recipe.averaging, 0.98);
      recipe.samples = method.online ? 0 : (task.quick() ? 20'000 : 640'000);
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
          stages.train({method.network, built_for, recipe, task.seed}, {kPoints, look, drift});
      return Json{{"seen", std::move(trained.seen)}};
    });
  }
  return result;
}

// Mean over the second half of P* as a share of the optimum at that time.
double kept(const Json& result, const std::string& stage) {
  const Json& seen = result.at(stage).at("seen");
  const size_t half = seen.size() / 2;
  double sum = 0;
  for (size_t k = half; k < seen.size(); ++k) {
    sum += seen[k].at("p_star").get<double>() / (kOptimum * (1 + seen[k].at("t").get<double>()));
  }
  return sum / static_cast<double>(seen.size() - half);
}

Outcome judge(Scale scale, const std::vector<Json>& results) {
  Outcome outcome;
  const bool quick = scale == Scale::kQuick;
  std::vector<double> ahead;
  for (const Json& result : results) {
    ahead.push_back(kept(result, "algnet") - kept(result, "regretnet-offline"));
  }
  for (const Method& method : kMethods) {
    std::vector<double> shares;
    for (const Json& result : results) shares.push_back(kept(result, method.stage));
    const double least = quick ? 0.5 : 0.8;
    outcome.findings.push_back(finding(method.words + ": P* / optimum for t from 1/2 to 1",
                                       method.stage == "algnet" ? "near 1" : "below ALGnet's",
                                       shares, method.online ? at_least(least) : at_most(1.0)));
  }
  outcome.findings.push_back(
      finding("ALGnet's less offline RegretNet's", "> 0", ahead, at_least(0.0)));
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
          .quick = {.seeds = {1}, .expected_seconds = 27, .words = "small networks"},
          .full = {.seeds = {1}, .expected_seconds = 1'200, .words = "the shipped recipes"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce
