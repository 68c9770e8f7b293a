// Two bidders, two items: what tariffs lack, and what truth costs a seller beside the thesis's
// networks.
#include "reproduce/auction_stages.h"

namespace agora::reproduce::kind_beyond_2x2 {
namespace {

// ALGnet as published; regret is the mean per bidder.
constexpr double kRevenue = 0.879, kRegret = 0.00058;
constexpr int kBidders = 2;

struct Line {
  std::string mechanism, words;
  double revenue, looser, most;  // at full and at quick scale, and for both
};

const std::vector<Line>& lines() {
  static const std::vector<Line> all{
      {"tariff", "two-part tariffs", 0.852, 0.84, 0.862},
      {"learned-ama", "a learned affine maximiser", 0.8725, 0.868, 0.88},
      {"sifted-ama", "affine maximisers of those who could win", 0.875, 0.874, 0.88}};
  return all;
}

std::vector<double> gains(const std::vector<Json>& results, const char* less, const char* more) {
  std::vector<double> found;
  for (const Json& result : results) {
    found.push_back(result.at(more).at("revenue").get<double>() -
                    result.at(less).at("revenue").get<double>());
  }
  return found;
}

Json run(Task& task) {
  constexpr int64_t kQuickIterations = 400;
  Stages stages(task);
  Json result = Json::object();
  const auctions::Setting market = auctions::setting("2x2");
  for (const Line& line : lines()) {
    result[line.mechanism] = stages.stage(line.mechanism, [&] {
      const auctions::Recipe recipe = recipe_for(task, line.mechanism, market, kQuickIterations);
      const auto trained = train(stages, {line.mechanism, market, recipe, task.seed});
      auctions::AuditOptions how = audit_for(task);
      how.thesis_test = false;
      how.profiles = task.scale == Scale::kQuick ? 200'000 : 1'000'000;
      return measured(*trained.mechanism, market, how);
    });
  }
  return result;
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement outcome;
  const double algnet = auctions::p_star(kRevenue, kBidders * kRegret);
  for (const Line& line : lines()) {
    const JsonPath at("/" + line.mechanism);
    outcome.findings.push_back(finding(scale, line.words + ": revenue, ALGnet's beside it",
                                       "0.879 ± 0.0024", numbers_at(results, at / "revenue"),
                                       between(line.revenue, line.most),
                                       between(line.looser, line.most)));
    outcome.findings.push_back(finding(line.words + ": regret, strong test, ALGnet's beside it",
                                       "0.00058 ± 0.00023", numbers_at(results, at / "strong"),
                                       at_most(1e-9)));
    outcome.findings.push_back(
        finding(line.words + ": P*, ALGnet's beside it", fmt::format("{:.3f}", algnet),
                numbers_at(results, at / "p_star"), between(algnet + 0.02, line.most)));
  }
  outcome.findings.push_back(finding("what the affine maximiser earns more than tariffs", "",
                                     gains(results, "tariff", "learned-ama"), between(0.01, 0.03)));
  outcome.findings.push_back(finding("what those of who could win earn more than one for all", "",
                                     gains(results, "learned-ama", "sifted-ama"),
                                     between(0.0015, 0.0035)));
  outcome.remark =
      "Not of the thesis. An item may have to go to the second-highest bidder because that one "
      "takes both, which no tariff does. Who faces bids that could win nothing need not pay for "
      "them.";
  return outcome;
}

}  // namespace

Experiment entry_beyond_2x2() {
  return {.name = "beyond-2x2",
          .chapter = 5,
          .title = "Exactly truthful mechanisms for two bidders and two items",
          .source = "ch. 5, table of revenue and regret",
          .quick = {.seeds = {1}, .expected_seconds = 15, .words = "400 iterations"},
          .full = {.seeds = {1, 2, 3}, .expected_seconds = 300, .words = "the shipped recipe"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_beyond_2x2
