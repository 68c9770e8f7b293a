// RegretNet with the schedules that were tuned for other sizes.
#include "reproduce/stages.h"

namespace agora::reproduce {
namespace {

using namespace auctions;

struct Schedule {
  std::string size;  // it was tuned for
  double multiplier, penalty, penalty_step;
  int64_t multiplier_every, penalty_every;
};
const Schedule kSchedules[] = {{"1x2", 5, 1, 50, 100, 10'000},
                               {"3x10", 5, 1, 1, 100, 10'000},
                               {"5x10", 1, 0.25, 0.25, 100, 100'000}};

struct Line {
  std::string size;
  std::string published[3][2];  // (schedule; revenue, regret)
};
const std::vector<Line>& lines() {
  static const std::vector<Line> all{
      {"1x2", {{"0.552", "0.0001"}, {"0.573", "0.0012"}, {"0.332", "0.0179"}}},
      {"3x10", {{"4.825", "0.0007"}, {"5.527", "0.0017"}, {"5.880", "0.0047"}}},
      {"5x10", {{"4.768", "0.0006"}, {"5.424", "0.0033"}, {"6.749", "0.0047"}}},
  };
  return all;
}

std::string stage_of(const Line& line, const Schedule& schedule) {
  return line.size + "-with-" + schedule.size;
}

Json run(Task& task) {
  Stages stages(task);
  AuditOptions options = audit_for(task);
  Json result = Json::object();
  for (const Line& line : lines()) {
    if (task.quick() && line.size != "1x2") continue;
    for (const Schedule& schedule : kSchedules) {
      const std::string stage = stage_of(line, schedule);
      result[stage] = stages.stage(stage, [&] {
        const Setting market = setting(line.size);
        Recipe recipe = auctions::recipe("regretnet", market, "thesis");
        recipe.multiplier = schedule.multiplier;
        recipe.penalty = schedule.penalty;
        recipe.penalty_step = schedule.penalty_step;
        recipe.multiplier_every = schedule.multiplier_every;
        recipe.penalty_every = schedule.penalty_every;
        if (task.quick()) recipe = shrunken(recipe, 6'000);
        const auto trained = stages.train({"regretnet", market, recipe, task.seed});
        return measured(*trained.mechanism, market, options);
      });
    }
  }
  return result;
}

Outcome judge(Scale scale, const std::vector<Json>& results) {
  Outcome outcome;
  const bool quick = scale == Scale::kQuick;
  for (const Line& line : lines()) {
    if (!results.front().contains(stage_of(line, kSchedules[0]))) continue;
    report::BarChart chart{.title = line.size + " with each schedule",
                           .caption = "P* by the strong test.",
                           .x = {.title = "schedule of"},
                           .groups = {},
                           .bars = {{"revenue", {}}, {"P*", {}}}};
    std::vector<double> least(results.size(), 1e300), most(results.size(), 0.0);
    for (int k = 0; k < 3; ++k) {
      const Json::json_pointer at("/" + stage_of(line, kSchedules[k]));
      const std::string what = fmt::format("{}, schedule of {}", line.size, kSchedules[k].size);
      const std::vector<double> regrets = numbers_at(results, at / "strong");
      outcome.findings.push_back(finding(what + ": revenue", line.published[k][0],
                                         numbers_at(results, at / "revenue"), at_least(0.2)));
      outcome.findings.push_back(finding(what + ": regret, the thesis's test", line.published[k][1],
                                         numbers_at(results, at / "regret"),
                                         at_most(quick ? 0.2 : 0.05)));
      for (size_t s = 0; s < results.size(); ++s) {
        least[s] = std::min(least[s], regrets[s]);
        most[s] = std::max(most[s], regrets[s]);
      }
      chart.groups.push_back(kSchedules[k].size);
      chart.bars[0].heights.push_back(mean_at(results, at / "revenue"));
      chart.bars[1].heights.push_back(mean_at(results, at / "p_star"));
    }
    std::vector<double> ratio;
    for (size_t s = 0; s < results.size(); ++s) ratio.push_back(most[s] / least[s]);
    outcome.findings.push_back(finding(line.size + ": largest / least regret among the schedules",
                                       "> 7", ratio, at_least(4)));
    outcome.charts.emplace_back(std::move(chart));
  }
  outcome.remark =
      "The same network and data with the schedules (λ0, ρ0, c, T_λ, T_ρ) published for three "
      "sizes. What counts is that the result depends on the schedule; the values printed for a "
      "schedule that does not fit are of one run each. At quick scale only 1x2 runs, and the "
      "schedule is compressed with the number of iterations.";
  return outcome;
}

}  // namespace

Experiment entry_ch5_schedule_sensitivity() {
  return {.name = "ch5-schedule-sensitivity",
          .chapter = 5,
          .title = "RegretNet depends on the schedule of its Lagrangian",
          .source = "ch. 5, The augmented Lagrangian method and its shortcomings, table (b)",
          .quick = {.seeds = {1}, .expected_seconds = 16, .words = "1x2, small networks"},
          .full = {.seeds = {1}, .expected_seconds = 20 * 3600, .words = "as published"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce
