#pragma once
#include <string>
#include <vector>

#include "reproduce/auction_stages.h"

namespace agora::reproduce {

// One line of a table of a network on settings where something better is known.
struct TableLine {
  std::string setting, published_revenue, published_regret;
  double reference;                        // the optimum, or the best truthful auction of a family
  double revenue, regret, strong, p_star;  // what full scale must reach
  int64_t quick_iterations;
  double looser_regret;            // what quick scale must reach, by both tests
  std::string why_not_quick = {};  // why it is not judged at quick scale, if so
};

struct NetworkTable {
  std::string network, title, caption;
  std::vector<TableLine> lines;
  double looser_revenue, looser_p_star;  // at quick scale, as shares of the reference
};

inline Json run_table(Task& task, const NetworkTable& table) {
  Stages stages(task);
  Json result = Json::object();
  for (const TableLine& line : table.lines) {
    result[line.setting] = stages.stage(line.setting, [&] {
      const auctions::Setting market = auctions::setting(line.setting);
      const auctions::Recipe recipe =
          recipe_for(task, table.network, market, line.quick_iterations);
      const auto trained = train(stages, {table.network, market, recipe, task.seed});
      return measured(*trained.mechanism, market, audit_for(task));
    });
  }
  return result;
}

inline Judgement judge_table(Scale scale, const NetworkTable& table,
                             const std::vector<Json>& results) {
  Judgement outcome;
  report::BarChart chart{.title = table.title,
                         .caption = table.caption,
                         .y = {.title = "share of the reference"},
                         .groups = {},
                         .bars = {{"revenue", {}}, {"P*", {}}}};
  for (const TableLine& line : table.lines) {
    const JsonPath at("/" + line.setting);
    const auto judge = [&](const std::string& what, const std::string& published,
                           const std::string& number, const Rule& rule, const Rule& least) {
      const std::vector<double> ours = numbers_at(results, at / number);
      outcome.findings.push_back(
          scale == Scale::kQuick && !line.why_not_quick.empty()
              ? not_judged(line.setting + ": " + what, published, ours, line.why_not_quick)
              : finding(scale, line.setting + ": " + what, published, ours, rule, least));
    };
    judge("revenue", line.published_revenue, "revenue",
          between(line.revenue, 1.05 * line.reference),
          between(table.looser_revenue * line.reference, 1.1 * line.reference));
    judge("regret, the thesis's test", line.published_regret, "regret", at_most(line.regret),
          at_most(line.looser_regret));
    judge("regret, strong test", "", "strong", at_most(line.strong), at_most(line.looser_regret));
    judge("P*, strong test", "", "p_star", at_least(line.p_star),
          at_least(table.looser_p_star * line.reference));
    chart.groups.push_back(line.setting);
    chart.bars[0].heights.push_back(mean_at(results, at / "revenue") / line.reference);
    chart.bars[1].heights.push_back(mean_at(results, at / "p_star") / line.reference);
  }
  outcome.charts.emplace_back(std::move(chart));
  return outcome;
}

}  // namespace agora::reproduce
