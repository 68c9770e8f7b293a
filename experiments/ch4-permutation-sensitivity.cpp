// How much the revenue of a learned auction changes with the order of bidders and items.
#include "auctions/audit/audit.h"
#include "base/statistics.h"
#include "reproduce/stages.h"

namespace agora::reproduce {
namespace {

using namespace auctions;

struct Case {
  std::string stage, mechanism, setting, words;
  int64_t samples;           // at full scale; a tenth of it at quick scale
  int64_t quick_iterations;  // 0: full scale only
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"many", "regretnet", "I", "RegretNet, I, many samples", 500'000, 6'000},
      {"few", "regretnet", "I", "RegretNet, I, few samples", 5'000, 6'000},
      {"equivariant", "equivariantnet", "I", "EquivariantNet, I", 500'000, 1'500},
      {"equivariant-V", "equivariantnet", "V", "EquivariantNet, V", 500'000, 500},
      {"II", "regretnet", "II", "RegretNet, II", 500'000, 0},
      {"equivariant-II", "equivariantnet", "II", "EquivariantNet, II", 500'000, 0},
  };
  return all;
}

Json run(Task& task) {
  Stages stages(task);
  Json result = Json::object();
  for (const Case& each : cases()) {
    if (task.quick() && each.quick_iterations == 0) continue;
    result[each.stage] = stages.stage(each.stage, [&] {
      const Setting market = setting(each.setting);
      Recipe recipe = recipe_for(task, each.mechanism, market, each.quick_iterations);
      recipe.samples = task.quick() ? each.samples / 10 : each.samples;
      const auto trained = stages.train({each.mechanism, market, recipe, task.seed});
      AuditOptions options = audit_for(task);
      options.symmetry_profiles = 1'000;
      options.thesis_test = false;
      const SymmetryTest symmetry = symmetry_test(*trained.mechanism, market, options);
      Json found = measured(*trained.mechanism, market, options);
      found["h_r"] = {{"mean", symmetry.range_mean},
                      {"max", symmetry.range_max},
                      {"profiles", symmetry.revenue_range}};
      return found;
    });
  }
  return result;
}

Outcome judge(Scale scale, const std::vector<Json>& results) {
  Outcome outcome;
  for (const Case& each : cases()) {
    if (!results.front().contains(each.stage)) continue;
    const Json::json_pointer at("/" + each.stage);
    const std::vector<double> mean = numbers_at(results, at / "h_r" / "mean");
    const double revenue = mean_at(results, at / "revenue");
    if (each.mechanism == "equivariantnet") {
      outcome.findings.push_back(finding(each.words + ": largest h_R", "0",
                                         numbers_at(results, at / "h_r" / "max"), at_most(1e-5)));
      continue;
    }
    const bool big = each.setting == "II";
    outcome.findings.push_back(finding(each.words + ": mean h_R",
                                       big ? "0.1 to 0.4" : "near 0, not 0", mean,
                                       big ? between(0.05, 0.5) : between(1e-4, 0.1)));
    if (big) {
      std::vector<double> share;
      for (double one : mean) share.push_back(100 * one / revenue);
      outcome.findings.push_back(
          finding(each.words + ": mean h_R, % of revenue", "3.8 to 15", share, between(2, 20)));
    }
    report::Histogram chart = report::histogram(results.front().at(at / "h_r" / "profiles"), 40);
    chart.title = each.words;
    chart.x.title = "h_R";
    chart.y.title = "profiles";
    outcome.charts.emplace_back(std::move(chart));
  }
  const double many = mean_at(results, Json::json_pointer("/many/h_r/mean"));
  std::vector<double> ratio;
  for (double few : numbers_at(results, Json::json_pointer("/few/h_r/mean"))) {
    ratio.push_back(few / many);
  }
  outcome.findings.push_back(finding("RegretNet, I: mean h_R with few samples / with many", "> 1",
                                     ratio, at_least(scale == Scale::kQuick ? 0.2 : 1.0)));
  outcome.remark =
      "h_R is the highest less the lowest revenue over all orders of bidders and items, on 1,000 "
      "profiles (setting II: all 2,880 orders). Many samples are 500,000, few 5,000; at quick "
      "scale "
      "both are a tenth, the networks are small and hardly trained, and the two histograms need "
      "not "
      "differ yet.";
  return outcome;
}

}  // namespace

Experiment entry_ch4_permutation_sensitivity() {
  return {.name = "ch4-permutation-sensitivity",
          .chapter = 4,
          .title = "Permutation sensitivity h_R of RegretNet and EquivariantNet",
          .source = "ch. 4, Feed-forward nets and permutation-equivariance, figure (a)-(c)",
          .quick = {.seeds = {1}, .expected_seconds = 25, .words = "50,000 and 500 samples"},
          .full = {.seeds = {1},
                   .expected_seconds = 4'200,
                   .words = "500,000 and 5,000 samples, and setting II"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce
