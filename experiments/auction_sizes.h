#pragma once
#include <string>
#include <vector>

#include "reproduce/auction_stages.h"

namespace agora::reproduce {

struct Printed {
  std::string revenue, regret;
};

// One line of the table of chapter 5 for n x m uniform values.
struct SizeLine {
  std::string size;
  Printed regretnet, algnet;
  double truthful;  // revenue of an exactly truthful auction
  std::string truthful_words;
  double revenue, regret, strong;  // what full scale must reach
};

inline const std::pair<std::string, std::string> kCompared[] = {{"regretnet", "RegretNet"},
                                                                {"algnet", "ALGnet"}};

struct QuickIterations {
  int64_t regretnet, algnet;
};

inline Json run_sizes(Task& task, const std::vector<SizeLine>& lines, QuickIterations quick) {
  Stages stages(task);
  Json result = Json::object();
  for (const SizeLine& line : lines) {
    for (const auto& named : kCompared) {
      const std::string& network = named.first;
      const std::string stage = network + "-" + line.size;
      result[stage] = stages.stage(stage, [&] {
        const auctions::Setting market = auctions::setting(line.size);
        const auctions::Recipe recipe =
            recipe_for(task, network, market, network == "algnet" ? quick.algnet : quick.regretnet);
        const auto trained = train(stages, {network, market, recipe, task.seed});
        return measured(*trained.mechanism, market, audit_for(task));
      });
    }
  }
  return result;
}

// `why_not_quick`: why nothing is judged at quick scale, if so.
inline Judgement judge_sizes(Scale scale, const std::vector<SizeLine>& lines,
                             const std::vector<Json>& results,
                             const std::string& why_not_quick = "") {
  Judgement outcome;
  report::BarChart chart{.title = "n x m, uniform values",
                         .caption =
                             "As a share of the revenue of an exactly truthful auction. P* "
                             "by the strong test.",
                         .y = {.title = "share"},
                         .groups = {},
                         .bars = {}};
  outcome.remark = "Exactly truthful auctions earn:";
  for (const SizeLine& line : lines) {
    chart.groups.push_back(line.size);
    outcome.remark += fmt::format(" {} {:.4g} ({})", line.size, line.truthful, line.truthful_words);
    outcome.remark += &line == &lines.back() ? "." : ";";
  }
  for (const auto& [network, words] : kCompared) {
    report::Bars revenue{words + ", revenue", {}}, star{words + ", P*", {}};
    for (const SizeLine& line : lines) {
      const JsonPath at("/" + network + "-" + line.size);
      const Printed& printed = network == "algnet" ? line.algnet : line.regretnet;
      const std::string what = line.size + ", " + words;
      const auto judge = [&](const std::string& number, const std::string& key,
                             const std::string& published, const Rule& rule, const Rule& looser) {
        const std::vector<double> ours = numbers_at(results, at / key);
        outcome.findings.push_back(
            scale == Scale::kQuick && !why_not_quick.empty()
                ? not_judged(what + number, published, ours, why_not_quick)
                : finding(scale, what + number, published, ours, rule, looser));
      };
      judge(": revenue", "revenue", printed.revenue, between(line.revenue, 1.1 * line.truthful),
            between(0.85 * line.truthful, 1.1 * line.truthful));
      const Rule looser = at_most(0.005 * line.truthful);
      judge(": regret, the thesis's test", "regret", printed.regret, at_most(line.regret), looser);
      judge(": regret, strong test", "strong", "", at_most(line.strong), looser);
      revenue.heights.push_back(mean_at(results, at / "revenue") / line.truthful);
      star.heights.push_back(mean_at(results, at / "p_star") / line.truthful);
    }
    chart.bars.push_back(std::move(revenue));
    chart.bars.push_back(std::move(star));
  }
  outcome.charts.emplace_back(std::move(chart));
  return outcome;
}

}  // namespace agora::reproduce
