// Tariffs that are exactly truthful beside the thesis's networks, which are nearly so.
#include "reproduce/auction_stages.h"

namespace agora::reproduce::kind_beyond_truthful {
namespace {

struct Line {
  std::string size;
  struct Published {
    double revenue, regret;
  } regretnet, algnet;     // mean per bidder; RegretNet's are bounds
  std::string printed;     // ALGnet's
  double truthful;         // the best truthful auction known before
  std::string words;       // which
  double revenue, looser;  // at full and at quick scale
};

const std::vector<Line>& lines() {
  static const std::vector<Line> all{{"1x2",
                                      {0.554, 0.001},
                                      {0.555, 0.00055},
                                      "0.555 ± 0.0019",
                                      0.549201,
                                      "the optimum",
                                      0.5475,
                                      0.544},
                                     {"1x10",
                                      {3.461, 0.003},
                                      {3.487, 0.00165},
                                      "3.487 ± 0.0135",
                                      3.4777,
                                      "the straight-jacket auction",
                                      3.47,
                                      3.4},
                                     {"3x10",
                                      {5.541, 0.002},
                                      {5.562, 0.00193},
                                      "5.562 ± 0.0308",
                                      5.5896,
                                      "a learned affine maximiser",
                                      5.69,
                                      5.45},
                                     {"5x10",
                                      {6.778, 0.005},
                                      {6.781, 0.00385},
                                      "6.781 ± 0.0504",
                                      6.71875,
                                      "item-wise Myerson",
                                      6.78,
                                      6.65}};
  return all;
}

Json run(Task& task) {
  constexpr int64_t kQuickIterations = 400;
  Stages stages(task);
  Json result = Json::object();
  for (const Line& line : lines()) {
    result[line.size] = stages.stage(line.size, [&] {
      const auctions::Setting market = auctions::setting(line.size);
      const auctions::Recipe recipe = recipe_for(task, "tariff", market, kQuickIterations);
      const auto trained = train(stages, {"tariff", market, recipe, task.seed});
      auctions::AuditOptions how = audit_for(task);
      how.thesis_test = false;
      how.profiles = std::max<int64_t>(how.profiles, 200'000);
      return measured(*trained.mechanism, market, how);
    });
  }
  return result;
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement outcome;
  report::LineChart chart{.title = "Revenue over regret",
                          .caption =
                              "Regret is the mean per bidder, revenue a share of the best "
                              "truthful auction known before: "};
  chart.x.title = "regret";
  chart.y.title = "share";
  report::Series ours{"tariffs", {}, {}}, algnet{"ALGnet, published", {}, {}},
      regretnet{"RegretNet, published", {}, {}};
  for (const Line& line : lines()) {
    const JsonPath at("/" + line.size);
    outcome.findings.push_back(finding(scale, line.size + ": revenue, ALGnet's beside it",
                                       line.printed, numbers_at(results, at / "revenue"),
                                       between(line.revenue, 1.1 * line.truthful),
                                       between(line.looser, 1.1 * line.truthful)));
    outcome.findings.push_back(finding(line.size + ": regret, strong test", "",
                                       numbers_at(results, at / "strong"), at_most(1e-9)));
    chart.caption += fmt::format("{} {:.5g} ({}){}", line.size, line.truthful, line.words,
                                 &line == &lines().back() ? "." : ", ");
    ours.x.push_back(mean_at(results, at / "strong"));
    ours.y.push_back(mean_at(results, at / "revenue") / line.truthful);
    algnet.x.push_back(line.algnet.regret);
    algnet.y.push_back(line.algnet.revenue / line.truthful);
    regretnet.x.push_back(line.regretnet.regret);
    regretnet.y.push_back(line.regretnet.revenue / line.truthful);
  }
  for (report::Series* series : {&ours, &algnet, &regretnet}) {
    series->markers = true;
    series->line = false;
    chart.series.push_back(std::move(*series));
  }
  outcome.charts.emplace_back(std::move(chart));
  outcome.remark =
      "Not of the thesis: tariffs are truthful by construction (docs/auctions.md), its networks "
      "nearly so.";
  return outcome;
}

}  // namespace

Experiment entry_beyond_truthful() {
  return {.name = "beyond-truthful",
          .chapter = 5,
          .title = "Exactly truthful tariffs beside ALGnet and RegretNet",
          .source = "ch. 5, tables of revenue and regret",
          .quick = {.seeds = {1}, .expected_seconds = 60, .words = "400 iterations"},
          .full = {.seeds = {1, 2, 3}, .expected_seconds = 2400, .words = "the shipped recipe"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_beyond_truthful
