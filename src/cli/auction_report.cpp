#include "cli/auction_report.h"

#include <fmt/format.h>

#include "auctions/mechanism.h"
#include "base/files.h"
#include "report/html.h"
#include "report/png.h"
#include "report/svg.h"
#include "report/text.h"

namespace agora::cli {
namespace {

constexpr int kCells = 80;  // per item of a heat map

// For one bidder and two items; none otherwise.
std::vector<report::HeatMap> heat_maps(const auctions::Mechanism& mechanism,
                                       const auctions::Setting& setting) {
  if (setting.bidders() != 1 || setting.items() != 2) return {};
  const auctions::Interval x = setting.search_domain(0, 0), y = setting.search_domain(0, 1);
  std::vector<double> bids;  // row by row from the low end of item 2
  for (int row = 0; row < kCells; ++row) {
    for (int column = 0; column < kCells; ++column) {
      bids.push_back(x.low + (x.high - x.low) * (column + 0.5) / kCells);
      bids.push_back(y.low + (y.high - y.low) * (row + 0.5) / kCells);
    }
  }
  std::vector<double> allocation(bids.size()), payments(bids.size() / 2);
  auctions::run_parallel(mechanism, kCells * kCells, 1, 2, bids.data(), allocation.data(),
                         payments.data());
  std::vector<report::HeatMap> charts;
  for (int quantity = 0; quantity < 3; ++quantity) {
    report::HeatMap map{
        .title = quantity < 2 ? fmt::format("Probability of item {}", quantity + 1) : "Payment",
        .x = {.title = "bid for item 1", .low = x.low, .high = x.high},
        .y = {.title = "bid for item 2", .low = y.low, .high = y.high},
        .rows = kCells,
        .columns = kCells};
    for (int cell = 0; cell < kCells * kCells; ++cell) {
      map.values.push_back(quantity < 2 ? allocation[2 * cell + quantity] : payments[cell]);
    }
    if (quantity < 2) map.low = 0.0, map.high = 1.0;
    charts.push_back(std::move(map));
  }
  return charts;
}

// h_R; none where nothing was permuted or nothing changes.
std::optional<report::Histogram> sensitivity(const auctions::Audit& audit) {
  if (!audit.symmetry || !(audit.symmetry->range_max > 0)) return std::nullopt;
  report::Histogram chart = report::histogram(audit.symmetry->revenue_range);
  chart.title = "Permutation sensitivity h_R";
  chart.caption = "Highest less lowest revenue over the orders of bidders and items.";
  chart.x.title = "h_R";
  chart.y.title = "profiles";
  return chart;
}

void add_regret(report::Table& table, const char* name,
                const std::optional<auctions::RegretTest>& test, double revenue, int bidders) {
  if (!test) return;
  table.rows.push_back(
      {{fmt::format("regret per bidder, {}, mean", name), report::readable(test->mean)}});
  table.rows.push_back({{fmt::format("regret, {}, 99 %", name), report::readable(test->p99)}});
  table.rows.push_back(
      {{fmt::format("regret, {}, largest found", name), report::readable(test->max)}});
  table.rows.push_back({{fmt::format("P*, {}", name),
                         report::readable(auctions::p_star(revenue, bidders * test->mean))}});
}

report::Table numbers(const auctions::Setting& setting, const auctions::Audit& audit) {
  const double revenue = audit.truth.revenue;
  report::Table table{.columns = {{.name = "quantity"}, {.name = "value", .numeric = true}}};
  table.rows.push_back({{"revenue", report::readable(revenue)}});
  table.rows.push_back({{"its standard error", fmt::format("{:.2g}", audit.truth.revenue_error)}});
  add_regret(table, "thesis's test", audit.thesis, revenue, setting.bidders());
  add_regret(table, "strong test", audit.strong, revenue, setting.bidders());
  table.rows.push_back(
      {{"largest loss of a truthful bidder", report::readable(audit.truth.ir_violation)}});
  table.rows.push_back({{"welfare", report::readable(audit.truth.welfare)}});
  table.rows.push_back({{"sale rate", report::readable(audit.truth.sale_rate)}});
  if (audit.symmetry && setting.bidders() > 1) {
    table.rows.push_back(
        {{"exploitability, % of revenue", report::readable(audit.symmetry->exploitability)}});
    table.rows.push_back(
        {{"seat matters, mean", report::readable(audit.symmetry->treatment_mean)}});
  }
  return table;
}

}  // namespace

std::shared_ptr<AuditPictures> declare_pictures(OptionList& app) {
  auto pictures = std::make_shared<AuditPictures>();
  app.add("--report", pictures->page, "Write a page with pictures to this HTML file");
  app.add("--pictures", pictures->folder,
          "Write the pictures to this folder, as SVG; heat maps as PNG too");
  return pictures;
}

void AuditPictures::write(const Common& common, const auctions::Mechanism& mechanism,
                          const auctions::Setting& setting, const auctions::Audit& audit) const {
  if (page.empty() && folder.empty()) return;
  const std::vector<report::HeatMap> maps = heat_maps(mechanism, setting);
  const std::optional<report::Histogram> ranges = sensitivity(audit);
  if (!folder.empty()) {
    const std::filesystem::path in = folder;
    make_folder(in);
    const char* const names[] = {"item-1", "item-2", "payment"};
    for (size_t k = 0; k < maps.size(); ++k) {
      report::write_svg(in / fmt::format("{}.svg", names[k]), maps[k]);
      report::write_png(in / fmt::format("{}.png", names[k]), report::draw(maps[k]));
    }
    if (ranges) report::write_svg(in / "permutation-sensitivity.svg", *ranges);
  }
  if (page.empty()) return;
  report::Page content{.title = fmt::format("Audit of {}", mechanism.name()),
                       .subtitle = fmt::format("{}, {} profiles, seed {}", setting.text(),
                                               audit.truth.profiles, common.seed)};
  content.summary = {numbers(setting, audit),
                     report::Code{.text = common.command, .label = "Command"}};
  if (!maps.empty()) {
    content.sections.push_back(
        {.heading = "What a bid buys", .blocks = {report::ChartBlock{{maps.begin(), maps.end()}}}});
  }
  if (ranges) {
    content.sections.push_back({.heading = "Symmetry", .blocks = {report::ChartBlock{{*ranges}}}});
  }
  report::write_html(page, content);
}

Measuring::Measuring(OptionList& app, const auctions::AuditOptions& presets, int64_t least_searched)
    : options(presets), market(declare_market(app)), chosen(declare_mechanism(app)) {
  declare_profiles(app, options, least_searched);
  pictures = declare_pictures(app);
}

void Measuring::run(const OptionList& app, const Common& common,
                    const std::function<void(const auctions::Audit&)>& kept) const {
  const auto mechanism = chosen->find(*market, common.seed);
  const auctions::Setting setting = market_for(*mechanism, *market);
  const auctions::Audit audit =
      auctions::audit(*mechanism, setting, audit_options(app, options, setting, common));
  if (kept) kept(audit);
  pictures->write(common, *mechanism, setting, audit);
  print_audit(common, *mechanism, setting, audit);
}

}  // namespace agora::cli
