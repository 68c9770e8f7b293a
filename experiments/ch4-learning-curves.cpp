// Train and test revenue and regret of EquivariantNet on setting I, against epochs.
#include "auctions/audit/audit.h"
#include "reproduce/auction_stages.h"

namespace agora::reproduce::kind_ch4_learning_curves {
namespace {

using namespace auctions;

constexpr int kPoints = 20;

Json run(Task& task) {
  Stages stages(task);
  const Setting market = setting("I");
  Recipe recipe = recipe_for(task, "equivariantnet", market, 600);
  if (recipe.samples == 0) recipe.samples = task.quick() ? 5'000 : 50'000;
  const auto look = [&](int64_t iteration, const Mechanism& mechanism, TrainingNumbers training) {
    const AuditOptions options{.regret_profiles = task.quick() ? 40 : 500, .seed = task.seed};
    return Json{{"epoch", static_cast<double>(iteration * recipe.batch) /
                              static_cast<double>(recipe.samples)},
                {"train_revenue", training.revenue},
                {"train_regret", training.regret},
                {"test_revenue", evaluate(mechanism, market, {.seed = task.seed}).revenue},
                {"test_regret", strong_regret(mechanism, market, options).mean}};
  };
  return {{"I", stages.stage("I", [&] {
             auto trained =
                 train(stages, {"equivariantnet", market, recipe, task.seed}, {kPoints, look, {}});
             return Json{{"seen", std::move(trained.seen)}};
           })}};
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement outcome;
  const JsonPath last("/I/seen/" + std::to_string(kPoints - 1)), first("/I/seen/0");
  outcome.findings.push_back(finding(scale, "test revenue at the end", "0.55",
                                     numbers_at(results, last / "test_revenue"),
                                     between(0.54, 0.565), between(0.47, 0.6)));
  outcome.findings.push_back(finding(scale, "test regret at the end, strong test", "near 0",
                                     numbers_at(results, last / "test_regret"), at_most(1.5e-3),
                                     at_most(0.003)));
  std::vector<double> gap;
  for (const Json& result : results) {
    gap.push_back(std::abs(result.at(last / "test_revenue").get<double>() -
                           result.at(last / "train_revenue").get<double>()));
  }
  outcome.findings.push_back(finding(scale, "|test - train revenue| at the end", "near 0", gap,
                                     at_most(0.01), at_most(0.03)));
  for (const char* what : {"revenue", "regret"}) {
    report::LineChart chart{.title = fmt::format("EquivariantNet, setting I: {}", what),
                            .x = {.title = "epoch"},
                            .y = {.title = what}};
    for (const char* part : {"train", "test"}) {
      chart.series.push_back(
          seen_curve(part, results, "I", "epoch", fmt::format("{}_{}", part, what)));
    }
    if (what == std::string("revenue")) {
      const std::vector<double> x = chart.series[0].x;
      chart.series.push_back({.name = "optimum",
                              .x = {x.front(), x.back()},
                              .y = {0.549201, 0.549201},
                              .dashed = true});
    }
    outcome.charts.emplace_back(std::move(chart));
  }
  outcome.remark =
      "Train regret is what the training's own search sees; test regret is that of the strong "
      "test on fresh profiles.";
  return outcome;
}

}  // namespace

Experiment entry_ch4_learning_curves() {
  return {.name = "ch4-learning-curves",
          .chapter = 4,
          .title = "EquivariantNet learns setting I: revenue and regret against epochs",
          .source = "ch. 4, Known optimal solution, figure (a)-(b)",
          .quick = {.seeds = {1}, .expected_seconds = 8, .words = "600 iterations"},
          .full = {.seeds = {1, 2, 3}, .expected_seconds = 600, .words = "3 seeds"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch4_learning_curves
