// Revenue, regret and P* of RegretNet and ALGnet on setting A while they learn.
#include "auctions/audit/audit.h"
#include "reproduce/stages.h"

namespace agora::reproduce {
namespace {

using namespace auctions;

constexpr int kPoints = 20;
constexpr int64_t kEpoch = 640'000;  // profiles: both methods are put on one scale
const std::pair<std::string, std::string> kNetworks[] = {{"regretnet", "RegretNet"},
                                                         {"algnet", "ALGnet"}};

Json run(Task& task) {
  Stages stages(task);
  const Setting market = setting("A");
  Json result = Json::object();
  for (const auto& named : kNetworks) {
    const std::string& network = named.first;
    result[network] = stages.stage(network, [&] {
      const Recipe recipe = recipe_for(task, network, market, network == "algnet" ? 4'000 : 6'000);
      const auto look = [&](int64_t iteration, const Mechanism& mechanism, TrainingNumbers) {
        const AuditOptions options{.regret_profiles = task.quick() ? 60 : 500, .seed = task.seed};
        const double revenue = evaluate(mechanism, market, {.seed = task.seed}).revenue;
        const double regret = strong_regret(mechanism, market, options).mean;
        return Json{{"epoch", static_cast<double>(iteration * recipe.batch) / kEpoch},
                    {"revenue", revenue},
                    {"regret", regret},
                    {"p_star", p_star(revenue, regret)}};
      };
      auto trained = stages.train({network, market, recipe, task.seed}, {kPoints, look, {}});
      return Json{{"seen", std::move(trained.seen)}};
    });
  }
  return result;
}

Outcome judge(Scale scale, const std::vector<Json>& results) {
  Outcome outcome;
  const bool quick = scale == Scale::kQuick;
  for (const auto& [network, words] : kNetworks) {
    const Json::json_pointer last =
        Json::json_pointer("/" + network + "/seen") / static_cast<size_t>(kPoints - 1);
    outcome.findings.push_back(finding(words + ": revenue at the end", "0.55 to 0.56",
                                       numbers_at(results, last / "revenue"),
                                       quick ? between(0.48, 0.6) : between(0.54, 0.565)));
    outcome.findings.push_back(finding(words + ": regret at the end, strong test", "near 0",
                                       numbers_at(results, last / "regret"),
                                       at_most(quick ? 0.005 : 2e-3)));
    std::vector<double> gained;
    for (const Json& result : results) {
      const Json& seen = result.at(network).at("seen");
      gained.push_back(seen.back().at("p_star").get<double>() -
                       seen.front().at("p_star").get<double>());
    }
    outcome.findings.push_back(
        finding(words + ": P* at the end less P* at the first look", "> 0", gained, at_least(0)));
  }
  const std::pair<std::string, std::string> shown[] = {
      {"revenue", "Revenue"}, {"regret", "Regret, strong test"}, {"p_star", "P*"}};
  for (const auto& [key, words] : shown) {
    report::LineChart chart{.title = words + ", setting A",
                            .x = {.title = "epochs of 640,000 profiles"},
                            .y = {.title = words, .log = key == "regret"}};
    for (const auto& [network, name] : kNetworks) {
      chart.series.push_back(seen_curve(name, results, network, "epoch", key));
    }
    if (key != "regret") {
      double end = 0;
      for (const report::Series& each : chart.series) end = std::max(end, each.x.back());
      chart.series.push_back(
          {.name = "optimum", .x = {0, end}, .y = {0.549201, 0.549201}, .dashed = true});
    }
    outcome.charts.emplace_back(std::move(chart));
  }
  outcome.remark =
      "The thesis prints the figures only. Regret is that of the strong test on fresh profiles, "
      "not what the training sees.";
  return outcome;
}

}  // namespace

Experiment entry_ch5_learning_curves() {
  return {.name = "ch5-learning-curves",
          .chapter = 5,
          .title = "RegretNet and ALGnet learn setting A: revenue, regret and P*",
          .source = "ch. 5, Auctions with known and unknown optima, figure (a)-(c)",
          .quick = {.seeds = {1}, .expected_seconds = 13, .words = "small networks"},
          .full = {.seeds = {1}, .expected_seconds = 900, .words = "the shipped recipes"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce
