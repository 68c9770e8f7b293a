// How much the revenue of a learned auction changes with the order of bidders and items.
#include "auctions/audit/audit.h"
#include "base/statistics.h"
#include "reproduce/auction_stages.h"

namespace agora::reproduce::kind_ch4_permutation_sensitivity {
namespace {

using namespace auctions;

constexpr double kOptimumI = 0.549201, kMyersonII = 3.0625;

struct Case {
  std::string stage, mechanism, setting, words;
  int64_t samples;
  int64_t quick_iterations;  // 0: full scale only
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"many", "regretnet", "I", "RegretNet, I, many samples", 500'000, 1'500},
      {"few", "regretnet", "I", "RegretNet, I, few samples", 5'000, 0},
      {"equivariant", "equivariantnet", "I", "EquivariantNet, I", 500'000, 400},
      {"equivariant-V", "equivariantnet", "V", "EquivariantNet, V", 500'000, 100},
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
      recipe.samples = each.samples;
      const auto trained = train(stages, {each.mechanism, market, recipe, task.seed});
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

// Any network has some h_R before it has learned anything: what it earns is judged beside it.
void judge_learning(Judgement& outcome, Scale scale, const Case& each,
                    const std::vector<Json>& results) {
  const JsonPath at("/" + each.stage);
  if (each.setting == "V") return;
  const bool big = each.setting == "II";
  const double reference = big ? kMyersonII : kOptimumI;
  outcome.findings.push_back(finding(scale, each.words + ": revenue", big ? "2.6" : "0.55",
                                     numbers_at(results, at / "revenue"),
                                     between((big ? 0.85 : 0.98) * reference, 1.1 * reference),
                                     between(0.85 * reference, 1.1 * reference)));
  outcome.findings.push_back(
      finding(scale, each.words + ": regret, strong test", "", numbers_at(results, at / "strong"),
              at_most((big ? 0.002 : 0.003) * reference), at_most(0.005 * reference)));
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement outcome;
  for (const Case& each : cases()) {
    if (!results.front().contains(each.stage)) continue;
    judge_learning(outcome, scale, each, results);
    const JsonPath at("/" + each.stage);
    if (each.mechanism == "equivariantnet") {
      outcome.findings.push_back(finding(each.words + ": largest h_R", "0",
                                         numbers_at(results, at / "h_r" / "max"), at_most(1e-5)));
      continue;
    }
    const bool big = each.setting == "II";
    const std::vector<double> mean = numbers_at(results, at / "h_r" / "mean");
    outcome.findings.push_back(finding(each.words + ": mean h_R",
                                       big ? "0.1 to 0.4" : "near 0, not 0", mean,
                                       big ? between(0.1, 0.4) : between(1e-4, 0.05)));
    if (big) {
      std::vector<double> share;
      for (size_t s = 0; s < results.size(); ++s) {
        share.push_back(100 * mean[s] / results[s].at(at / "revenue").get<double>());
      }
      outcome.findings.push_back(
          finding(each.words + ": mean h_R, % of revenue", "3.8 to 15", share, between(3.8, 15)));
    }
    report::Histogram chart = report::histogram(
        results.front().at(at / "h_r" / "profiles").get<std::vector<double>>(), 40);
    chart.title = each.words;
    chart.x.title = "h_R";
    chart.y.title = "profiles";
    outcome.charts.emplace_back(std::move(chart));
  }
  const std::string few = "RegretNet, I: mean h_R with few samples / with many";
  if (scale == Scale::kQuick) {
    outcome.findings.push_back(not_judged(
        few, "> 1", {}, "so few iterations do not wear out a small sample, which is not run"));
  } else {
    std::vector<double> ratio;
    for (const Json& result : results) {
      ratio.push_back(result.at(JsonPath("/few/h_r/mean")).get<double>() /
                      result.at(JsonPath("/many/h_r/mean")).get<double>());
    }
    outcome.findings.push_back(finding(few, "> 1", ratio, at_least(1.05)));
  }
  outcome.remark =
      "h_R is the highest less the lowest revenue over all orders of bidders and items, on 1,000 "
      "profiles (setting II: all 2,880 orders). Many samples are 500,000, few 5,000. The revenue "
      "printed for II is .1 of 3.8 %.";
  return outcome;
}

}  // namespace

Experiment entry_ch4_permutation_sensitivity() {
  return {.name = "ch4-permutation-sensitivity",
          .chapter = 4,
          .title = "Permutation sensitivity h_R of RegretNet and EquivariantNet",
          .source = "ch. 4, Feed-forward nets and permutation-equivariance, figure (a)-(c)",
          .quick = {.seeds = {1},
                    .expected_seconds = 12,
                    .words = "100 to 1,500 iterations; no small sample"},
          .full = {.seeds = {1},
                   .expected_seconds = 4'200,
                   .words = "500,000 and 5,000 samples, and setting II"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch4_permutation_sensitivity
