// Learned mechanisms that are exactly truthful beside the thesis's networks, which are nearly so.
#include "reproduce/auction_stages.h"

namespace agora::reproduce::kind_beyond_truthful {
namespace {

struct Line {
  std::string size;
  struct Published {
    double revenue, regret;
  } regretnet, algnet;  // mean per bidder; RegretNet's are bounds
  std::string printed;  // ALGnet's
  double truthful;      // the best truthful auction known before
  std::string words;    // which
  struct Least {
    double full, quick;  // revenue
  } tariffs, affine;
};

const std::vector<Line>& lines() {
  static const std::vector<Line> all{{"1x2",
                                      {0.554, 0.001},
                                      {0.555, 0.00055},
                                      "0.555 ± 0.0019",
                                      0.549201,
                                      "the optimum",
                                      {0.5485, 0.544},
                                      {0.547, 0.544}},
                                     {"1x10",
                                      {3.461, 0.003},
                                      {3.487, 0.00165},
                                      "3.487 ± 0.0135",
                                      3.4777,
                                      "the straight-jacket auction",
                                      {3.475, 3.4},
                                      {3.47, 3.4}},
                                     {"3x10",
                                      {5.541, 0.002},
                                      {5.562, 0.00193},
                                      "5.562 ± 0.0308",
                                      5.5896,
                                      "a learned affine maximiser",
                                      {5.7, 5.45},
                                      {5.92, 5.8}},
                                     {"5x10",
                                      {6.778, 0.005},
                                      {6.781, 0.00385},
                                      "6.781 ± 0.0504",
                                      6.71875,
                                      "item-wise Myerson",
                                      {6.78, 6.65},
                                      {7.03, 6.9}}};
  return all;
}

struct Kind {
  std::string mechanism, suffix, words;
  Line::Least Line::*least;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"tariff", "", "tariffs", &Line::tariffs},
      {"learned-ama", "-affine", "affine maximisers", &Line::affine}};
  return all;
}

Json run(Task& task) {
  constexpr int64_t kQuickIterations = 400;
  Stages stages(task);
  Json result = Json::object();
  for (const Line& line : lines()) {
    for (const Kind& kind : kinds()) {
      const std::string name = line.size + kind.suffix;
      result[name] = stages.stage(name, [&] {
        const auctions::Setting market = auctions::setting(line.size);
        const auctions::Recipe recipe = recipe_for(task, kind.mechanism, market, kQuickIterations);
        const auto trained = train(stages, {kind.mechanism, market, recipe, task.seed});
        auctions::AuditOptions how = audit_for(task);
        how.thesis_test = false;
        how.profiles = std::max<int64_t>(how.profiles, 200'000);
        if (task.quick()) how.regret_profiles = 10;  // no search of ten items finds a thing
        return measured(*trained.mechanism, market, how);
      });
    }
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
  report::Series algnet{"ALGnet, published", {}, {}}, regretnet{"RegretNet, published", {}, {}};
  std::vector<report::Series> all;
  for (const Kind& kind : kinds()) all.push_back({kind.words, {}, {}});
  for (const Line& line : lines()) {
    for (size_t k = 0; k < kinds().size(); ++k) {
      const Kind& kind = kinds()[k];
      const JsonPath at("/" + line.size + kind.suffix);
      const Line::Least& least = line.*kind.least;
      const std::string what = line.size + ", " + kind.words;
      outcome.findings.push_back(finding(scale, what + ": revenue, ALGnet's beside it",
                                         line.printed, numbers_at(results, at / "revenue"),
                                         between(least.full, 1.1 * line.truthful),
                                         between(least.quick, 1.1 * line.truthful)));
      outcome.findings.push_back(finding(what + ": regret, strong test", "",
                                         numbers_at(results, at / "strong"), at_most(1e-9)));
      all[k].x.push_back(mean_at(results, at / "strong"));
      all[k].y.push_back(mean_at(results, at / "revenue") / line.truthful);
    }
    chart.caption += fmt::format("{} {:.5g} ({}){}", line.size, line.truthful, line.words,
                                 &line == &lines().back() ? "." : ", ");
    algnet.x.push_back(line.algnet.regret);
    algnet.y.push_back(line.algnet.revenue / line.truthful);
    regretnet.x.push_back(line.regretnet.regret);
    regretnet.y.push_back(line.regretnet.revenue / line.truthful);
  }
  all.push_back(std::move(algnet));
  all.push_back(std::move(regretnet));
  for (report::Series& series : all) {
    series.markers = true;
    series.line = false;
    chart.series.push_back(std::move(series));
  }
  outcome.charts.emplace_back(std::move(chart));
  outcome.remark =
      "Not of the thesis: both are truthful by construction (docs/auctions.md), its networks "
      "nearly so.";
  return outcome;
}

}  // namespace

Experiment entry_beyond_truthful() {
  return {.name = "beyond-truthful",
          .chapter = 5,
          .title = "Exactly truthful mechanisms beside ALGnet and RegretNet",
          .source = "ch. 5, tables of revenue and regret",
          .quick = {.seeds = {1}, .expected_seconds = 45, .words = "400 iterations"},
          .full = {.seeds = {1, 2, 3}, .expected_seconds = 2800, .words = "the shipped recipe"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_beyond_truthful
