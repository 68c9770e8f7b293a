// Myerson's optimal sale of one item: reserve and revenue in closed form, by quadrature of the
// ironed virtual values, and simulated.
#include <agora/auction_audit.h>

#include <algorithm>
#include <cmath>

#include "auctions/exact/virtual_value.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "base/run_folder.h"
#include "base/signals.h"
#include "reproduce/experiment.h"

namespace agora::reproduce::kind_ch1_optimal_auction {
namespace {

using namespace agora::auctions;

struct Market {
  std::string setting, words;
  std::string published;    // the reserve, where the thesis prints it
  double reserve, revenue;  // in closed form
};

// Two bidders with exponential(1) values: the integral of (v - 1) d(F^2) above 1.
double two_exponential() { return 2 * std::exp(-1.0) - 0.5 * std::exp(-2.0); }
// Two bidders with density 5/(1+x)^6: virtual value .8 v - .2, integrated above 1/4.
double two_power() {
  const double w = 1.25;
  return 2 * 0.25 * std::pow(w, -5) - 2 * 5 * (0.8 * std::pow(w, -9) / 9 - std::pow(w, -10) / 10);
}

const std::vector<Market>& markets() {
  static const std::vector<Market> all{
      {"1x1 uniform(0,1)", "1 bidder, U[0,1]", "1/2", 0.5, 0.25},
      {"2x1 uniform(0,1)", "2 bidders, U[0,1]", "1/2", 0.5, 5.0 / 12.0},
      {"3x1 uniform(0,1)", "3 bidders, U[0,1]", "1/2", 0.5, 17.0 / 32.0},
      {"2x1 exponential(1)", "2 bidders, exponential of mean 1", "", 1.0, two_exponential()},
      {"2x1 power(5)", "2 bidders, density 5/(1+x)^6", "", 0.25, two_power()},
      // Irregular: the virtual value 2v - 9/4 of the lower part is ironed to 3/4 on [3/2, 3).
      {"1x1 mix(0.8 uniform(1,2), 0.2 uniform(3,4))", "1 bidder, 4/5 U[1,2] + 1/5 U[3,4]", "",
       1.125, 1.0125},
      {"2x1 mix(0.8 uniform(1,2), 0.2 uniform(3,4))", "2 bidders, 4/5 U[1,2] + 1/5 U[3,4]", "",
       1.125, 0.6975 + 0.45 + 2 - 0.488 / 0.3},
  };
  return all;
}

constexpr int kReserves = 21;  // 0, .05, ..., 1 for the picture
constexpr int64_t kPiece = 1 << 16;

double reserve_at(int k) { return k / static_cast<double>(kReserves - 1); }

// Revenue of the second-price auction with a reserve, two bidders, U[0,1]: one bid above it pays
// the reserve, two pay the lower one.
double uniform_revenue(double r) {
  return 2 * r * (1 - r) * r + (1 - r) * (1 - r) * (r + (1 - r) / 3);
}

struct Work {
  Setting market;
  std::unique_ptr<Mechanism> mechanism;
};

std::vector<Work> all_work() {
  std::vector<Work> work;
  for (const Market& each : markets()) {
    const Setting market = setting(each.setting);
    work.push_back({market, exact("myerson", market)});
  }
  for (int k = 0; k < kReserves; ++k) {
    const Setting market = setting("2x1 uniform(0,1)");
    work.push_back(
        {market, exact("second-price", market, {.arguments = {{"reserve", reserve_at(k)}}})});
  }
  return work;
}

Json run(Task& task) {
  const int64_t profiles = task.quick() ? 4 * kPiece : 160 * kPiece;
  const int64_t pieces = profiles / kPiece;
  const std::vector<Work> work = all_work();
  const auto size = static_cast<int64_t>(work.size());
  std::vector<double> sums(2 * size, 0.0);  // (work, 2): of revenues and of their squares
  int64_t done = 0;                         // pieces, over all of the work
  if (const auto saved = task.folder.latest()) {
    done = saved->step;
    sums = saved->tensors.at("sums", {size, 2}).values<double>();
  }
  for (; done < pieces * size; ++done) {
    const int64_t w = done / pieces;
    const Evaluation part =
        evaluate(*work[w].mechanism, work[w].market,
                 {.profiles = kPiece, .first = done % pieces * kPiece, .seed = task.seed});
    const double variance = part.revenue_error * part.revenue_error * (kPiece - 1);
    sums[2 * w] += part.revenue * kPiece;
    sums[2 * w + 1] += (variance + part.revenue * part.revenue) * kPiece;
    if ((done + 1) % 16 == 0 || stop_requested()) {
      task.folder.save(done + 1, {StoredTensor::of<double>("sums", {size, 2}, sums)});
      throw_if_stopped();
    }
  }
  Json result{{"profiles", profiles}, {"markets", Json::array()}, {"reserves", Json::array()}};
  const auto total = static_cast<double>(profiles);
  for (int64_t w = 0; w < size; ++w) {
    const double mean = sums[2 * w] / total;
    const double error =
        std::sqrt(std::max(0.0, sums[2 * w + 1] / total - mean * mean) / (total - 1));
    Json entry{{"revenue", mean}, {"se", error}};
    if (w >= static_cast<int64_t>(markets().size())) {
      result["reserves"].push_back(entry);
      continue;
    }
    const std::vector<std::vector<Law>> laws = marginal_laws(work[w].market);
    std::vector<Law> bidders;
    for (const auto& row : laws) bidders.push_back(row[0]);
    entry["reserve"] = VirtualValue(*bidders[0]).reserve();
    entry["quadrature"] = optimal_revenue(bidders);
    result["markets"].push_back(entry);
  }
  return result;
}

Judgement judge(Scale, const std::vector<Json>& results) {
  Judgement outcome;
  const auto over_seeds = [&](const char* list, size_t index, const char* key) {
    std::vector<double> values;
    for (const Json& result : results)
      values.push_back(result.at(list).at(index).at(key).get<double>());
    return values;
  };
  for (size_t w = 0; w < markets().size(); ++w) {
    const Market& market = markets()[w];
    double variance = 0.0;
    for (double error : over_seeds("markets", w, "se")) variance += error * error;
    const double error = std::sqrt(variance) / static_cast<double>(results.size());
    outcome.findings.push_back(finding(market.words + ": reserve", market.published,
                                       over_seeds("markets", w, "reserve"),
                                       within(market.reserve, 1e-5)));
    outcome.findings.push_back(finding(market.words + ": revenue, virtual values integrated", "",
                                       over_seeds("markets", w, "quadrature"),
                                       within(market.revenue, 1e-5)));
    outcome.findings.push_back(finding(market.words + ": revenue, simulated", "",
                                       over_seeds("markets", w, "revenue"),
                                       within(market.revenue, 4 * error)));
  }
  report::LineChart chart{.title = "Second-price auction of one item, 2 bidders, U[0,1]",
                          .caption =
                              "Revenue is highest at the reserve 1/2, where the virtual "
                              "value 2b - 1 changes its sign.",
                          .x = {.title = "reserve"},
                          .y = {.title = "revenue"}};
  report::Series simulated{.name = "simulated", .x = {}, .y = {}, .markers = true, .line = false};
  report::Series closed{.name = "closed form", .x = {}, .y = {}, .dashed = true};
  for (int k = 0; k < kReserves; ++k) {
    double mean = 0.0;
    for (double revenue : over_seeds("reserves", k, "revenue")) {
      mean += revenue / static_cast<double>(results.size());
    }
    simulated.x.push_back(reserve_at(k));
    simulated.y.push_back(mean);
    closed.x.push_back(reserve_at(k));
    closed.y.push_back(uniform_revenue(reserve_at(k)));
  }
  chart.series = {std::move(closed), std::move(simulated)};
  outcome.charts.push_back(std::move(chart));
  outcome.remark =
      "The thesis prints the reserve 1/2 of U[0,1]; the other values are closed forms. (Its "
      "example once writes min(r, v2) for the price; the winner pays max(r, v2), as its summary "
      "says.) Simulated revenues must lie within 4 standard errors.";
  return outcome;
}

}  // namespace

Experiment entry_ch1_optimal_auction() {
  return {.name = "ch1-optimal-auction",
          .chapter = 1,
          .title = "Optimal sale of one item: Myerson's reserve and revenue",
          .source = "ch. 1, Optimal Single Item Auction",
          .quick = {.seeds = {1}, .expected_seconds = 2, .words = "2.6*10^5 profiles per market"},
          .full = {.seeds = {1, 2, 3},
                   .expected_seconds = 120,
                   .words = "10^7 profiles per market, 3 seeds"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch1_optimal_auction
