#pragma once
#include <string>
#include <vector>

#include "reproduce/stages.h"

namespace agora::reproduce {

// One line of a table of a network on settings where something better is known.
struct TableLine {
  std::string setting, published_revenue, published_regret;
  double reference;                // the optimum, or the best truthful auction of a family
  double revenue, regret, strong;  // what full scale must reach
  double p_star;                   // 0: not asked
  double quick_strong;             // slack at quick scale, as a share of the reference
  int64_t quick_iterations;
};

struct NetworkTable {
  std::string network, title, caption;
  std::vector<TableLine> lines;
  double quick_revenue, quick_regret;  // at quick scale: least revenue and slack of the regret
};

inline Json run_table(Task& task, const NetworkTable& table) {
  Stages stages(task);
  Json result = Json::object();
  for (const TableLine& line : table.lines) {
    result[line.setting] = stages.stage(line.setting, [&] {
      const auctions::Setting market = auctions::setting(line.setting);
      const auctions::Recipe recipe =
          recipe_for(task, table.network, market, line.quick_iterations);
      const auto trained = stages.train({table.network, market, recipe, task.seed});
      return measured(*trained.mechanism, market, audit_for(task));
    });
  }
  return result;
}

inline Outcome judge_table(Scale scale, const NetworkTable& table,
                           const std::vector<Json>& results) {
  Outcome outcome;
  const bool quick = scale == Scale::kQuick;
  report::BarChart chart{.title = table.title,
                         .caption = table.caption,
                         .y = {.title = "share of the reference"},
                         .groups = {},
                         .bars = {{"revenue", {}}, {"P*", {}}}};
  for (const TableLine& line : table.lines) {
    const Json::json_pointer at("/" + line.setting);
    const auto judge = [&](const std::string& what, const std::string& published,
                           const std::string& number, const Rule& rule) {
      outcome.findings.push_back(
          finding(line.setting + ": " + what, published, numbers_at(results, at / number), rule));
    };
    const double slack = quick ? table.quick_regret * line.reference : 0;
    const double strong_slack = quick ? line.quick_strong * line.reference : 0;
    judge("revenue", line.published_revenue, "revenue",
          quick ? between(table.quick_revenue * line.reference, 1.1 * line.reference)
                : between(line.revenue, 1.05 * line.reference));
    judge("regret, the thesis's test", line.published_regret, "regret",
          at_most(line.regret + slack));
    judge("regret, strong test", "", "strong", at_most(line.strong + strong_slack));
    if (line.p_star > 0) {
      judge("P*, strong test", "", "p_star", at_least(quick ? 0.75 * line.reference : line.p_star));
    }
    chart.groups.push_back(line.setting);
    chart.bars[0].heights.push_back(mean_at(results, at / "revenue") / line.reference);
    chart.bars[1].heights.push_back(mean_at(results, at / "p_star") / line.reference);
  }
  outcome.charts.emplace_back(std::move(chart));
  return outcome;
}

}  // namespace agora::reproduce
