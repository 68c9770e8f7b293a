// Unit demand and budgets: what they are said to be, held against enumeration.
#include "auctions/limits.h"

#include <agora/auction_audit.h>
#include <agora/auction_training.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>

#include "auctions/exact/assignment.h"
#include "auctions/exact/revenue_bound.h"
#include "auctions/lottery.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "base/rng.h"
#include "made.h"
#include "support/scratch.h"

namespace agora::auctions {
namespace {

// The most over all ways to give bidders i, i + 1, ... one item each of those not in `taken`.
double enumerated(const std::vector<double>& weights, int n, int m, int without, int i = 0,
                  int taken = 0) {
  if (i == n) return 0.0;
  double most = enumerated(weights, n, m, without, i + 1, taken);
  for (int j = 0; j < m && i != without; ++j) {
    if (taken >> j & 1) continue;
    most = std::max(most,
                    weights[i * m + j] + enumerated(weights, n, m, without, i + 1, taken | 1 << j));
  }
  return most;
}

std::vector<double> random_weights(Rng& rng, int n, int m, double low) {
  std::vector<double> weights(static_cast<size_t>(n) * m);
  for (double& weight : weights) weight = rng.uniform(low, 1.0);
  if (rng.uniform() < 0.3) {  // with ties
    for (double& weight : weights) weight = std::round(4 * weight) / 4;
  }
  return weights;
}

// A file made by hand cannot give a kind limits that it does not keep to.
TEST(Limits, AreRefusedByKindsThatDoNotKnowThem) {
  for (const char* text : {"2x2; demand unit", "2x2; budget 0.5"}) {
    Parameters parameters = parameters_for("ama", setting("2x2"));
    parameters.tensors["weights"] = {{2}, {1.0, 1.0}};
    parameters.tensors["boosts"] = {{9}, std::vector<double>(9, 0.0)};
    make_mechanism(mechanism_kind("ama"), parameters);
    parameters.limits = setting(text).limits();
    expect_user_error([&] { make_mechanism(mechanism_kind("ama"), parameters); },
                      {"does not take", setting(text).unit_demand() ? "unit" : "budgets"});
  }
}

TEST(Assignment, IsTheBestOfAllMatchings) {
  Rng rng(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const int n = 1 + static_cast<int>(rng.below(5)), m = 1 + static_cast<int>(rng.below(5));
    const std::vector<double> weights = random_weights(rng, n, m, -0.5);
    const int without = static_cast<int>(rng.below(n + 1)) - 1;
    Assignment found(n, m);
    ASSERT_NEAR(found.solve(weights.data(), without), enumerated(weights, n, m, without), 1e-12);
    double sum = 0.0;
    std::vector<int> given(m, 0);
    for (int i = 0; i < n; ++i) {
      if (found.item(i) < 0) continue;
      ASSERT_NE(i, without);
      ++given[found.item(i)];
      sum += weights[i * m + found.item(i)];
    }
    ASSERT_NEAR(sum, enumerated(weights, n, m, without), 1e-12);
    for (const int times : given) ASSERT_LE(times, 1);
  }
}

// Clarke's payments by enumeration: what the others, and the seller with its reserves, lose.
TEST(UnitDemand, VcgIsThatOfAllMatchings) {
  Rng rng(5);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 1 + static_cast<int>(rng.below(4)), m = 2 + static_cast<int>(rng.below(3));
    const Setting market = setting(fmt::format("{}x{}; demand unit", n, m));
    std::vector<double> reserves;
    for (int j = 0; j < m; ++j) reserves.push_back(trial % 2 == 0 ? 0.0 : rng.uniform(0, 0.6));
    const auto vcg = exact(
        "vcg", market, {.arguments = {{"reserve", fmt::format("{}", fmt::join(reserves, ","))}}});
    const std::vector<double> bids = random_weights(rng, n, m, 0.0);
    std::vector<double> above = bids;
    for (int e = 0; e < n * m; ++e) above[e] -= reserves[e % m];
    const Outcome outcome = run(*vcg, bids);
    const double most = enumerated(above, n, m, -1);
    double welfare = 0.0;
    for (int i = 0; i < n; ++i) {
      double own = 0.0, reserve = 0.0, items = 0.0;
      for (int j = 0; j < m; ++j) {
        own += above[i * m + j] * outcome.allocation[i * m + j];
        reserve += reserves[j] * outcome.allocation[i * m + j];
        items += outcome.allocation[i * m + j];
      }
      ASSERT_LE(items, 1.0);
      welfare += own;
      ASSERT_NEAR(outcome.payments[i], reserve + enumerated(above, n, m, i) - (most - own), 1e-12);
    }
    ASSERT_NEAR(welfare, most, 1e-12);
  }
}

// Every kind that takes a setting with limits keeps to them, and truth is best among all bids of a
// grid, for all values of it.
TEST(Limits, AreKeptByAllWhoTakeThem) {
  int tried = 0;
  for (const char* text :
       {"2x2; demand unit", "3x2 uniform(0,1) uniform(0,2); demand unit", "1x2; demand unit",
        "2x2; demand unit; budget 0.4,0.6", "1x2; demand unit; budget 0.4", "1x2; budget 0.6",
        "2x2; budget 0.5", "3x1; budget 0.3,0.5,inf", "1x1; budget 0.3; demand unit",
        "2x2 discrete(1:0.5,2:0.3,4:0.2); demand unit; budget 1.5"}) {
    const Setting market = setting(text);
    const int n = market.bidders(), m = market.items();
    for (const MechanismKind& kind : mechanisms()) {
      if (!refusal_of(kind, market).empty() || (kind.name == "lp" && n > 2)) continue;
      const auto mechanism = kind.network
                                 ? untrained(kind, market, 2, 8, 3)
                                 : exact(kind.name, market, {.arguments = trial_arguments(kind)});
      ++tried;
      const Evaluation truth = evaluate(*mechanism, market, {.profiles = 2000, .seed = 1});
      EXPECT_LE(truth.ir_violation, 1e-12) << kind.name << " " << text;
      if (!kind.truthful || (!kind.average_flag.empty() && n > 1)) continue;
      // All values against all bids of one bidder, the others at some of them.
      std::vector<std::vector<double>> grid{{}};
      for (int j = 0; j < m; ++j) {
        std::vector<std::vector<double>> next;
        for (const auto& start : grid) {
          for (int level = 0; level <= 8; ++level) {
            next.push_back(start);
            next.back().push_back(market.search_domain(0, j).high * level / 8);
          }
        }
        grid = std::move(next);
      }
      Rng rng(7);
      for (int situation = 0; situation < 6; ++situation) {
        const int bidder = situation % n;
        std::vector<double> bids, profile(static_cast<size_t>(n) * m);
        for (double& bid : profile) bid = std::round(8 * rng.uniform()) / 8;
        for (const auto& bid : grid) {
          std::copy(bid.begin(), bid.end(), profile.begin() + int64_t{bidder} * m);
          bids.insert(bids.end(), profile.begin(), profile.end());
        }
        const Outcome outcome = run(*mechanism, bids);
        check_limits(*mechanism, market, static_cast<int64_t>(grid.size()),
                     outcome.allocation.data(), outcome.payments.data());
        const auto utility = [&](const std::vector<double>& value, size_t bid) {
          const size_t row = bid * n + bidder;
          double sum = -outcome.payments[row];
          for (int j = 0; j < m; ++j) sum += value[j] * outcome.allocation[row * m + j];
          return sum;
        };
        double largest = 0.0;
        for (size_t v = 0; v < grid.size(); ++v) {
          for (size_t b = 0; b < grid.size(); ++b) {
            largest = std::max(largest, utility(grid[v], b) - utility(grid[v], v));
          }
        }
        EXPECT_LE(largest, 1e-12) << kind.name << " " << text << ", bidder " << bidder;
      }
    }
  }
  EXPECT_GT(tried, 40);
}

// RegretNet's head by hand: softmaxes of two halves of the scores, over bidders and over items,
// each with one place for nobody and nothing; the smaller share counts.
TEST(UnitDemand, RegretNetGivesTheSmallerOfTwoSoftmaxes) {
  const int n = 2, m = 3, width = 4, scores = (n + 1) * (m + 1);
  const Setting market = setting("2x3; demand unit");
  const auto network = untrained(mechanism_kind("regretnet"), market, 1, width, 5);
  const Parameters saved = network->parameters();
  const auto layer = [&](const std::string& name, const std::vector<double>& x) {
    const auto& weight = saved.tensors.at(name + ".weight");
    std::vector<double> y = saved.tensors.at(name + ".bias").values;
    const size_t out = y.size();
    for (size_t i = 0; i < x.size(); ++i) {
      for (size_t o = 0; o < out; ++o) y[o] += x[i] * weight.values[i * out + o];
    }
    return y;
  };
  const std::vector<double> bids{0.9, 0.1, 0.5, 0.3, 0.8, 0.2};
  std::vector<double> hidden = layer("allocation.0", bids);
  for (double& x : hidden) x = std::tanh(x);
  const std::vector<double> out = layer("allocation.1", hidden);
  ASSERT_EQ(out.size(), 2u * scores);
  const Outcome found = run(*network, bids);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      const auto score = [&](int half, int row, int column) {
        return std::exp(out[half * scores + row * (m + 1) + column]);
      };
      double bidders = 0.0, items = 0.0;
      for (int row = 0; row <= n; ++row) bidders += score(0, row, j);
      for (int column = 0; column <= m; ++column) items += score(1, i, column);
      EXPECT_NEAR(found.allocation[i * m + j],
                  std::min(score(0, i, j) / bidders, score(1, i, j) / items), 1e-6);
    }
  }
}

// Pavlov's: one who wants one of two items of U[0,1] is best asked 1/sqrt(3) for either.
TEST(UnitDemand, OneBidderPaysTheBestPrice) {
  const Setting market = setting("1x2; demand unit");
  const double best = 2 / (3 * std::sqrt(3.0));
  const auto earned = [&](const Mechanism& mechanism) {
    return evaluate(mechanism, market, {.profiles = 200'000, .seed = 4}).revenue;
  };
  EXPECT_NEAR(earned(*exact("menu", market, {.arguments = {{"design-profiles", 5000}}})), best,
              3e-3);
  EXPECT_NEAR(earned(*exact("vcg", market, {.arguments = {{"fit-reserves", true}}})), best, 3e-3);
  EXPECT_NEAR(earned(*exact("vcg", market, {.arguments = {{"reserve", 1 / std::sqrt(3.0)}}})), best,
              2e-3);
  const double program = std::stod(exact("lp", market, {.arguments = {{"points", 12}}})
                                       ->parameters()
                                       .notes.at("revenue_on_types"));
  EXPECT_LT(program, best);
  EXPECT_GT(program, best - 0.03);
}

// A price above the budget is one that nobody can pay: the best is min(1/2, budget) for U[0,1].
TEST(Budget, OneBidderPaysItOrTheMonopolyPrice) {
  for (const double budget : {0.2, 0.3, 0.6}) {
    const Setting market = limited(setting("1x1"), {.budgets = {budget}});
    const double price = std::min(0.5, budget), best = price * (1 - price);
    for (const char* name : {"menu", "myerson", "bundle", "itemwise-myerson"}) {
      Arguments arguments;
      if (std::string_view(name) == "menu") arguments.emplace("design-profiles", 20'000);
      const auto mechanism = exact(name, market, {.arguments = arguments});
      EXPECT_NEAR(evaluate(*mechanism, market, {.profiles = 200'000, .seed = 4}).revenue, best,
                  3e-3)
          << name << " " << budget;
    }
    const auto fitted = exact("second-price", market, {.arguments = {{"fit-reserves", true}}});
    EXPECT_NEAR(fitted->parameters().tensors.at("reserve").values[0], price, 0.02);
  }
}

// Two items: every menu of one price per item and one for both, none above the budget.
TEST(Budget, MenuIsTheBestOfAGrid) {
  const double budget = 0.55;
  const Setting market = limited(setting("1x2"), {.budgets = {budget}});
  constexpr int kCells = 60;
  std::vector<double> values;
  for (int a = 0; a < kCells; ++a) {
    for (int b = 0; b < kCells; ++b)
      values.insert(values.end(), {(a + 0.5) / kCells, (b + 0.5) / kCells});
  }
  double best = 0.0;
  for (double one = 0.3; one <= budget; one += 0.005) {
    for (double both = one; both <= budget + 1e-9; both += 0.005) {
      double sum = 0.0;
      for (size_t k = 0; k < values.size(); k += 2) {
        const double single = std::max(values[k], values[k + 1]) - one;
        const double all = values[k] + values[k + 1] - both;
        if (std::max(single, all) >= 0) sum += all >= single ? both : one;
      }
      best = std::max(best, sum * 2 / static_cast<double>(values.size()));
    }
  }
  const auto menu = exact("menu", market, {.arguments = {{"design-profiles", 5000}}});
  const Evaluation found = evaluate(*menu, market, {.profiles = 200'000, .seed = 1});
  EXPECT_NEAR(found.revenue, best, 4e-3);
  EXPECT_LT(found.revenue, 0.5492);
}

// Known optima are not above the bound, and not far below it where laws are uniform.
TEST(RevenueBound, IsAboveWhatIsKnownToBeBest) {
  const auto bound = [](const char* text, int64_t profiles) {
    return revenue_bound(setting(text), profiles)->revenue;
  };
  const double one_of_two = 2 / (3 * std::sqrt(3.0));
  const std::vector<std::tuple<const char*, double, double>> known{
      {"1x1", 0.25, 1e-6},
      {"1x2", 0.549201, 2e-3},
      {"1x3", 0.8754, 0.02},
      {"2x1", 5.0 / 12, 3e-3},
      {"3x1 uniform(0,1)", 17.0 / 32, 0.03},
      {"B", 88.0 / 9, 0.04},
      {"1x2; demand unit", one_of_two, 3e-3},
      {"1x1; budget 0.3", 0.21, 1e-6},
      {"2x1; demand unit", 5.0 / 12, 3e-3},
      {"1x1 exponential(1)", 1 / std::exp(1.0), 0.05},
      {"1x2 discrete(1:0.5,2:0.5)", 2.25, 1e-6}};  // the bundle at 3, three times in four
  for (const auto& [text, best, above] : known) {
    const double found = bound(text, 100);
    EXPECT_GE(found, best - 1e-6) << text;
    EXPECT_LE(found, best + above) << text;
  }
  EXPECT_GT(bound("2x2", 81), 0.8744);  // what an affine maximiser earns
  EXPECT_LT(bound("2x2", 81), 0.95);
  EXPECT_LT(bound("2x2; budget 0.3", 81), 0.6);
  EXPECT_FALSE(revenue_bound(setting("3x10"), 400));
  EXPECT_FALSE(revenue_bound(setting("1x2 copula(0.5) uniform(0,1)"), 400));
}

// On atoms it is the optimum, which another program finds.
TEST(RevenueBound, IsTheOptimumOfAtoms) {
  for (const char* limits : {"", "; demand unit", "; budget 1.5", "; demand unit; budget 1.2,2"}) {
    const Setting market =
        setting(std::string("2x2 discrete(1:0.5,2:0.5) discrete(1:0.7,3:0.3)") + limits);
    const double best = std::stod(exact("lp", market)->parameters().notes.at("revenue_on_types"));
    EXPECT_NEAR(revenue_bound(market, 400)->revenue, best, 1e-6) << limits;
  }
}

TEST(Lottery, DrawsMatchingsWithTheirProbabilities) {
  const int n = 3, m = 4;
  const std::vector<double> shares{0.2, 0.3, 0.0, 0.5, 0.4, 0.1, 0.25, 0.0, 0.3, 0.6, 0.1, 0.0};
  std::vector<double> mean(shares.size()), won(shares.size());
  Rng rng(9);
  constexpr int kDraws = 40'000;
  for (int k = 0; k < kDraws; ++k) {
    draw_matching(rng, n, m, shares.data(), won.data());
    for (int i = 0; i < n; ++i) {
      double items = 0.0;
      for (int j = 0; j < m; ++j) items += won[i * m + j];
      ASSERT_LE(items, 1.0);
    }
    for (int j = 0; j < m; ++j) {
      double times = 0.0;
      for (int i = 0; i < n; ++i) times += won[i * m + j];
      ASSERT_LE(times, 1.0);
    }
    for (size_t e = 0; e < won.size(); ++e) {
      ASSERT_TRUE(won[e] == 0.0 || won[e] == 1.0);
      mean[e] += won[e] / kDraws;
    }
  }
  for (size_t e = 0; e < won.size(); ++e) EXPECT_NEAR(mean[e], shares[e], 0.012) << e;
}

TEST(Limits, AreTextAndBack) {
  const Setting market = setting(" 2x3 uniform(0,2) ;budget 0.5,inf; demand unit ");
  EXPECT_TRUE(market.unit_demand());
  EXPECT_EQ(market.budget(0), 0.5);
  EXPECT_TRUE(std::isinf(market.budget(1)));
  EXPECT_EQ(market.text(), "2x3 uniform(0,2); demand unit; budget 0.5,inf");
  EXPECT_EQ(setting(market.text()).limits(), market.limits());
  EXPECT_EQ(limited(market, {}).text(), "2x3 uniform(0,2)");
  EXPECT_EQ(setting("I; budget 2").text(), "I; budget 2");
  EXPECT_EQ(setting("2x2; budget inf").limits(), Limits{});
  EXPECT_FALSE(setting("2x2; budget 1,2").bidder_symmetric());
  expect_user_error([] { setting("2x2; demand some"); }, {"additive or unit", "'some'"});
  expect_user_error([] { setting("2x2; budget 1,2,3"); }, {"1 or 2 budgets", "3"});
  expect_user_error([] { setting("2x2; budget -1"); }, {"positive", "-1"});
  expect_user_error([] { setting("2x2; budget 1,"); }, {"'1,'"});
  expect_user_error([] { setting("2x2; reserve 1"); }, {"demand unit", "'reserve 1'"});
}

TEST(Limits, AreSavedAndAskedFor) {
  const Scratch scratch;
  const Setting market = setting("2x2; demand unit"), additive = setting("2x2");
  const Setting rich = setting("1x2; demand unit; budget 0.5");
  for (const char* ending : {"m.safetensors", "m.json"}) {
    const std::string file = (scratch.path() / ending).string();
    save(*exact("menu", rich, {.arguments = {{"design-profiles", 200}}}), file);
    EXPECT_EQ(load(file)->parameters().limits, rich.limits());
    save(*exact("vcg", market), file);
    const auto loaded = load(file);
    EXPECT_EQ(loaded->parameters().limits, market.limits());
    EXPECT_NO_THROW(evaluate(*loaded, market, {.profiles = 10}));
    expect_user_error([&] { evaluate(*loaded, additive, {.profiles = 10}); },
                      {"vcg was made for unit demand", "additive demand"});
  }
  expect_user_error([&] { evaluate(*exact("vcg", additive), market, {.profiles = 10}); },
                    {"vcg was made for additive demand", "unit demand"});
}

TEST(Limits, RefusalsNameThoseWhoCan) {
  expect_user_error([] { exact("ama", setting("2x2; demand unit")); },
                    {"does not take unit demand", "vcg", "tariff"});
  expect_user_error([] { exact("vcg", setting("2x2; budget 1")); },
                    {"does not take budgets", "bundle"});
  expect_user_error([] { exact("second-price", setting("2x2; demand unit; budget 1")); },
                    {"unit demand with budgets", "tariff"});
  expect_user_error(
      [] {
        exact("vcg", setting("2x2"), {.arguments = {{"reserve", "1,2,3"}}});
      },
      {"1 or 2 numbers", "3"});
}

// Stopped and taken up again, a training ends with the bits of one that was not.
TEST(Limits, AreResumedWith) {
  const Scratch scratch;
  const std::vector<std::pair<std::string, std::string>> tried{
      {"tariff", "2x2; demand unit; budget 0.4,0.6"}, {"regretnet", "2x2; demand unit"}};
  for (const auto& each : tried) {
    const std::string &name = each.first, &text = each.second;
    const Setting market = setting(text);
    Recipe how = recipe(name, market);
    how.iterations = 6;
    how.batch = 8;
    const auto whole = train(name, market, how, {.seed = 3});
    TrainingOptions options{
        .seed = 3, .checkpoint = (scratch / "kept.safetensors").string(), .report_every = 2};
    options.progress = [](const TrainingProgress& at) { return at.iteration < 4; };
    train(name, market, how, options);
    expect_user_error([&] { train(name, limited(market, {}), how, options); },
                      {"kept.safetensors"});
    options.progress = {};
    const auto resumed = train(name, market, how, options);
    EXPECT_EQ(resumed->parameters().limits, market.limits());
    for (const auto& [key, tensor] : whole->parameters().tensors) {
      EXPECT_EQ(tensor.values, resumed->parameters().tensors.at(key).values) << name << " " << key;
    }
    std::filesystem::remove(scratch / "kept.safetensors");
  }
}

// A mechanism that breaks a limit is told, whatever it says of itself.
TEST(Limits, AreCheckedInEveryOutcome) {
  const auto greedy = [](double items, double price) {
    return [=](const double*, double* allocation, double* payments) {
      allocation[0] = 1.0;
      allocation[1] = items - 1;
      payments[0] = price;
    };
  };
  const auto made = [&](const Setting& market, double items, double price) {
    class Own : public Made {
     public:
      Own(const Setting& market, Rule rule)
          : Made(1, 2, std::move(rule)), limits_(market.limits()) {}
      Parameters parameters() const override {
        Parameters own = Made::parameters();
        own.limits = limits_;
        return own;
      }

     private:
      Limits limits_;
    };
    return Own(market, greedy(items, price));
  };
  const Setting one = setting("1x2; demand unit"), poor = setting("1x2; budget 0.1");
  EXPECT_NO_THROW(evaluate(made(one, 1.0, 0.0), one, {.profiles = 1}));
  expect_user_error([&] { evaluate(made(one, 1.5, 0.0), one, {.profiles = 1}); }, {"1.5 items"});
  expect_user_error([&] { evaluate(made(poor, 2, 0.2), poor, {.profiles = 1}); },
                    {"budget is 0.1"});
}

}  // namespace
}  // namespace agora::auctions
