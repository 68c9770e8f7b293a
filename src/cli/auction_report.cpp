#include "cli/auction_report.h"

#include <fmt/format.h>

#include "report/html.h"

namespace agora::cli {
namespace {

constexpr int kCells = 80;  // per item of a heat map

std::vector<report::Chart> heat_maps(const auctions::Mechanism& mechanism,
                                     const auctions::Setting& setting) {
  const auctions::Interval x = setting.search_domain(0, 0), y = setting.search_domain(0, 1);
  std::vector<double> bids;  // row by row from the low end of item 2
  for (int row = 0; row < kCells; ++row) {
    for (int column = 0; column < kCells; ++column) {
      bids.push_back(x.low + (x.high - x.low) * (column + 0.5) / kCells);
      bids.push_back(y.low + (y.high - y.low) * (row + 0.5) / kCells);
    }
  }
  const auctions::Outcome outcome = auctions::run(mechanism, bids);
  std::vector<report::Chart> charts;
  for (int quantity = 0; quantity < 3; ++quantity) {
    report::HeatMap map{
        .title = quantity < 2 ? fmt::format("Probability of item {}", quantity + 1) : "Payment",
        .x = {.title = "bid for item 1", .low = x.low, .high = x.high},
        .y = {.title = "bid for item 2", .low = y.low, .high = y.high},
        .rows = kCells,
        .columns = kCells};
    for (int cell = 0; cell < kCells * kCells; ++cell) {
      map.values.push_back(quantity < 2 ? outcome.allocation[2 * cell + quantity]
                                        : outcome.payments[cell]);
    }
    if (quantity < 2) map.low = 0.0, map.high = 1.0;
    charts.push_back(std::move(map));
  }
  return charts;
}

void add_regret(report::Table& table, const char* name,
                const std::optional<auctions::RegretTest>& test, double revenue, int bidders) {
  if (!test) return;
  table.rows.push_back(
      {{fmt::format("regret per bidder, {}, mean", name), fmt::format("{:.3g}", test->mean)}});
  table.rows.push_back({{fmt::format("regret, {}, 99 %", name), fmt::format("{:.3g}", test->p99)}});
  table.rows.push_back(
      {{fmt::format("regret, {}, largest found", name), fmt::format("{:.3g}", test->max)}});
  table.rows.push_back({{fmt::format("P*, {}", name),
                         fmt::format("{:.6g}", auctions::p_star(revenue, bidders * test->mean))}});
}

}  // namespace

void write_audit_page(const std::filesystem::path& file, const Common& common,
                      const auctions::Mechanism& mechanism, const auctions::Setting& setting,
                      const auctions::Audit& audit) {
  const double revenue = audit.truth.revenue;
  report::Table table{.columns = {{.name = "quantity"}, {.name = "value", .numeric = true}}};
  table.rows.push_back({{"revenue", fmt::format("{:.6g}", revenue)}});
  table.rows.push_back({{"its standard error", fmt::format("{:.2g}", audit.truth.revenue_error)}});
  add_regret(table, "thesis's test", audit.thesis, revenue, setting.bidders());
  add_regret(table, "strong test", audit.strong, revenue, setting.bidders());
  table.rows.push_back(
      {{"largest loss of a truthful bidder", fmt::format("{:.3g}", audit.truth.ir_violation)}});
  table.rows.push_back({{"welfare", fmt::format("{:.6g}", audit.truth.welfare)}});
  table.rows.push_back({{"sale rate", fmt::format("{:.4g}", audit.truth.sale_rate)}});
  if (audit.symmetry && setting.bidders() > 1) {
    table.rows.push_back(
        {{"exploitability, % of revenue", fmt::format("{:.3g}", audit.symmetry->exploitability)}});
    table.rows.push_back(
        {{"seat matters, mean", fmt::format("{:.3g}", audit.symmetry->treatment_mean)}});
  }
  report::Page page{.title = fmt::format("Audit of {}", mechanism.name()),
                    .subtitle = fmt::format("{}, {} profiles, seed {}", setting.text(),
                                            audit.truth.profiles, common.seed)};
  page.summary = {table, report::Code{.text = common.command, .label = "Command"}};
  if (setting.bidders() == 1 && setting.items() == 2) {
    page.sections.push_back({.heading = "What a bid buys",
                             .blocks = {report::ChartBlock{heat_maps(mechanism, setting)}}});
  }
  if (audit.symmetry && audit.symmetry->range_max > 0) {
    report::Histogram chart = report::histogram(audit.symmetry->revenue_range);
    chart.title = "Permutation sensitivity h_R";
    chart.caption = "Highest less lowest revenue over the orders of bidders and items.";
    page.sections.push_back({.heading = "Symmetry", .blocks = {report::ChartBlock{{chart}}}});
  }
  report::write_html(file, page);
}

}  // namespace agora::cli
