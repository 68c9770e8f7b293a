// A network trained on one number of items, tested on others.
#include "auctions/audit/audit.h"
#include "reproduce/auction_stages.h"

namespace agora::reproduce::kind_ch4_generalisation {
namespace {

using namespace auctions;

struct Study {
  std::string name, words;
  int bidders, trained_items, last_items;
  // Revenue of the straight-jacket auction (alpha) or of item-wise Myerson (beta), from 2 items on.
  std::vector<double> reference;
  std::string reference_words;
};
const std::vector<Study>& studies() {
  static const std::vector<Study> all{
      {"alpha",
       "α: trained on 1x5",
       1,
       5,
       10,
       {.5492, .8754, 1.2195, 1.5764, 1.9434, 2.3181, 2.6993, 3.0862, 3.4777},
       "straight-jacket auction"},
      {"beta",
       "β: trained on 2x3",
       2,
       3,
       6,
       {5.0 / 6, 15.0 / 12, 20.0 / 12, 25.0 / 12, 30.0 / 12},
       "item-wise Myerson"},
  };
  return all;
}

Setting market_of(const Study& study, int items) {
  return setting(fmt::format("{}x{} uniform(0,1)", study.bidders, items));
}
std::string baseline_stage(const Study& study, int items) {
  return fmt::format("{}-regretnet-{}", study.name, items);
}
// Numbers of items for which a RegretNet is trained from scratch.
bool has_baseline(Scale scale, const Study& study, int items) {
  return scale == Scale::kFull || items == 2 || items == study.last_items;
}

Json run(Task& task) {
  Stages stages(task);
  AuditOptions options = audit_for(task);
  options.thesis_test = false;
  if (task.quick()) options.regret_profiles = 40;
  Json result = Json::object();
  for (const Study& study : studies()) {
    result[study.name] = stages.stage(study.name, [&] {
      const Setting market = market_of(study, study.trained_items);
      const Recipe recipe = recipe_for(task, "equivariantnet", market, 300);
      const auto trained = train(stages, {"equivariantnet", market, recipe, task.seed});
      Json found = Json::array();
      for (int items = 2; items <= study.last_items; ++items) {
        found.push_back(measured(*trained.mechanism, market_of(study, items), options));
      }
      return found;
    });
    for (int items = 2; items <= study.last_items; ++items) {
      if (!has_baseline(task.scale, study, items)) continue;
      const std::string stage = baseline_stage(study, items);
      result[stage] = stages.stage(stage, [&] {
        const Setting market = market_of(study, items);
        const Recipe recipe = recipe_for(task, "regretnet", market, 800);
        const auto trained = train(stages, {"regretnet", market, recipe, task.seed});
        return measured(*trained.mechanism, market, options);
      });
    }
  }
  return result;
}

std::vector<double> ratios(std::vector<double> above, const std::vector<double>& below) {
  for (size_t s = 0; s < above.size(); ++s) above[s] /= below[s];
  return above;
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement outcome;
  for (const Study& study : studies()) {
    report::LineChart chart{
        .title = study.words,
        .caption = "Each point of RegretNet is a network trained from scratch for that size.",
        .x = {.title = "items"},
        .y = {.title = "revenue", .low = 0.0},
        .series = {{.name = "EquivariantNet, one training", .x = {}, .y = {}, .markers = true},
                   {.name = "RegretNet", .x = {}, .y = {}, .markers = true},
                   {.name = study.reference_words, .x = {}, .y = {}, .dashed = true}}};
    for (int items = 2; items <= study.last_items; ++items) {
      const double reference = study.reference[items - 2];
      const JsonPath at = JsonPath("/" + study.name) / static_cast<size_t>(items - 2);
      const std::vector<double> revenue = numbers_at(results, at / "revenue");
      outcome.findings.push_back(finding(
          scale,
          fmt::format("{}, {} items: revenue / {}", study.words, items, study.reference_words), "",
          ratios(revenue, std::vector<double>(revenue.size(), reference)), between(0.9, 1.1),
          between(0.7, 1.15)));
      chart.series[0].x.push_back(items);
      chart.series[0].y.push_back(mean_at(results, at / "revenue"));
      chart.series[2].x.push_back(items);
      chart.series[2].y.push_back(reference);
      if (!has_baseline(scale, study, items)) continue;
      const JsonPath own("/" + baseline_stage(study, items));
      const std::vector<double> baseline = numbers_at(results, own / "revenue");
      outcome.findings.push_back(
          finding(scale,
                  fmt::format("{}, {} items: RegretNet's revenue / {}", study.words, items,
                              study.reference_words),
                  "", ratios(baseline, std::vector<double>(baseline.size(), reference)),
                  between(0.95, 1.1), between(0.7, 1.15)));
      outcome.findings.push_back(finding(
          scale, fmt::format("{}, {} items: RegretNet's regret / revenue", study.words, items), "",
          ratios(numbers_at(results, own / "strong"), baseline), at_most(0.005), at_most(0.01)));
      outcome.findings.push_back(
          finding(scale, fmt::format("{}, {} items: revenue / RegretNet's", study.words, items),
                  "near 1", ratios(revenue, baseline), between(0.93, 1.1), between(0.9, 1.15)));
      chart.series[1].x.push_back(items);
      chart.series[1].y.push_back(mean_at(results, own / "revenue"));
    }
    std::vector<double> regret;
    for (const Json& result : results) {
      double most = 0;
      for (const Json& one : result.at(study.name)) {
        most = std::max(most, one.at("strong").get<double>() / one.at("revenue").get<double>());
      }
      regret.push_back(most);
    }
    outcome.findings.push_back(finding(scale,
                                       study.words + ": largest regret / revenue, strong test", "",
                                       regret, at_most(0.01), at_most(0.02)));
    outcome.charts.emplace_back(std::move(chart));
  }
  outcome.remark =
      "The thesis prints the figures only and no regret. One network, trained for one number of "
      "items, is run on all; the references are exactly truthful auctions.";
  return outcome;
}

}  // namespace

Experiment entry_ch4_generalisation() {
  return {.name = "ch4-generalisation",
          .chapter = 4,
          .title = "Out-of-setting generalisation: experiments α and β",
          .source = "ch. 4, Out-of-setting generalization, figure (a)-(b)",
          .quick = {.seeds = {1},
                    .expected_seconds = 45,
                    .words = "300 and 800 iterations; RegretNet at the ends only"},
          .full = {.seeds = {1}, .expected_seconds = 6'000, .words = "the shipped recipes"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch4_generalisation
