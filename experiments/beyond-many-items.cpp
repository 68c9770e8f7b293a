// Many items among several bidders: what entry fees earn where every item on its own leaves most
// of what bidders gain with them.
#include "reproduce/auction_stages.h"

namespace agora::reproduce::kind_beyond_many_items {
namespace {

struct Line {
  std::string market;
  double item_by_item;  // revenue of Myerson's auction of each item, by integration
  double least, most;   // what fees earn beyond it
};

const std::vector<Line>& lines() {
  static const std::vector<Line> all{{"5x10", 6.71875, 0.29, 0.35},
                                     {"10x50", 40.9135, 1.40, 1.53},
                                     {"8x20 lognormal(0,1)", 53.125, 11.0, 12.2}};
  return all;
}

Json run(Task& task) {
  Stages stages(task);
  Json result = Json::object();
  for (const Line& line : lines()) {
    result[line.market] = stages.stage(line.market, [&] {
      const auctions::Setting market = auctions::setting(line.market);
      auctions::AuditOptions how = audit_for(task);
      how.thesis_test = false;
      how.profiles = task.quick() ? 50'000 : 200'000;
      how.regret_profiles = task.quick() ? 1 : 10;
      const Arguments told{{"design-profiles", task.quick() ? 2'000 : 200'000}};
      Json seen =
          measured(*auctions::exact("entry-fees", market, {.seed = task.seed, .arguments = told}),
                   market, how);
      how.regret_profiles = 0;
      seen["item_by_item"] =
          measured(*auctions::exact("itemwise-myerson", market), market, how).at("revenue");
      return seen;
    });
  }
  return result;
}

Judgement judge(Scale, const std::vector<Json>& results) {
  Judgement outcome;
  for (const Line& line : lines()) {
    const JsonPath at("/" + line.market);
    std::vector<double> gains;
    for (const Json& result : results) {
      gains.push_back(result.at(at / "revenue").get<double>() -
                      result.at(at / "item_by_item").get<double>());
    }
    outcome.findings.push_back(
        finding(line.market + ": item by item, beside the integral",
                fmt::format("{:.6g}", line.item_by_item), numbers_at(results, at / "item_by_item"),
                between(0.995 * line.item_by_item, 1.005 * line.item_by_item)));
    outcome.findings.push_back(finding(line.market + ": what entry fees earn more", "", gains,
                                       between(line.least, line.most)));
    outcome.findings.push_back(finding(line.market + ": regret, strong test", "",
                                       numbers_at(results, at / "strong"), at_most(1e-9)));
  }
  outcome.remark =
      "Not of the thesis. Who pays a fee for all that it wins leaves less of what it gains, and "
      "where somebody does not enter its items go to the next bidder.";
  return outcome;
}

}  // namespace

Experiment entry_beyond_many_items() {
  return {.name = "beyond-many-items",
          .chapter = 5,
          .title = "Exactly truthful auctions of many items among several bidders",
          .source = "ch. 5, Unknown and large-scale auctions",
          .quick = {.seeds = {1}, .expected_seconds = 12, .words = "few profiles"},
          .full = {.seeds = {1, 2, 3}, .expected_seconds = 60, .words = "as shipped"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_beyond_many_items
