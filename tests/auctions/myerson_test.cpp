#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "auctions/exact/virtual_value.h"
#include "auctions/setting.h"

namespace agora::auctions {
namespace {

TEST(VirtualValue, HasItsClosedForms) {
  const VirtualValue on_uniform(*uniform(0.0, 1.0));
  EXPECT_NEAR(on_uniform.reserve(), 0.5, 1e-9);
  for (double v : {0.1, 0.35, 0.9}) EXPECT_NEAR(on_uniform(v), 2 * v - 1, 1e-9);
  const VirtualValue on_exponential(*exponential(2.0));
  EXPECT_NEAR(on_exponential.reserve(), 2.0, 1e-5);
  for (double v : {0.1, 3.0, 11.0}) EXPECT_NEAR(on_exponential(v), v - 2.0, 2e-5 * v);
  const VirtualValue on_power(*power(5.0));
  EXPECT_NEAR(on_power.reserve(), 0.25, 1e-6);  // v (1 + v)^-5 is largest at 1/4
  for (double v : {0.1, 0.5, 2.0}) EXPECT_NEAR(on_power(v), 0.8 * v - 0.2, 5e-5 * v);
  EXPECT_NEAR(VirtualValue(*uniform(4.0, 7.0)).reserve(), 4.0, 1e-12);  // never negative there
  EXPECT_EQ(on_uniform(-0.1), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(on_uniform.ironed().empty());
  EXPECT_TRUE(on_exponential.ironed().empty());
  EXPECT_TRUE(on_power.ironed().empty());
}

TEST(VirtualValue, InvertsItself) {
  for (const Law& law : {mixture({{0.75, uniform(0.0, 1.0)}, {0.25, uniform(2.0, 3.0)}}),
                         beta(2.0, 2.0), discrete({{1.0, 0.4}, {2.0, 0.1}, {3.0, 0.5}})}) {
    SCOPED_TRACE(law->text());
    const VirtualValue phi(*law);
    for (double level = -1.0; level < 2.5; level += 0.0313) {
      const double low = phi.at_least(level), high = phi.above(level);
      EXPECT_LE(low, high);
      if (std::isfinite(low)) {
        EXPECT_GE(phi(low * (1 + 1e-14) + 1e-14), level - 1e-11);
      }
      if (low > phi.knots().front().value) {
        EXPECT_LT(phi(low - 1e-9), level);
      }
      if (std::isfinite(high)) {
        EXPECT_GT(phi(high + 1e-9), level);
      }
    }
  }
}

// Ironing by brute force: the best monotone approximation by pooling neighbours whose virtual
// values fall, weighted by their probabilities, until none falls.
std::vector<double> pooled(const std::vector<Atom>& atoms) {
  struct Block {
    double weight, sum;
    size_t count;
  };
  std::vector<Block> blocks;
  double above = 1.0;
  for (size_t k = 0; k < atoms.size(); ++k) {
    above -= atoms[k].probability;  // P(value > atom k)
    const double next = k + 1 < atoms.size() ? atoms[k + 1].value : atoms[k].value;
    const double level = atoms[k].value - (next - atoms[k].value) * above / atoms[k].probability;
    blocks.push_back({atoms[k].probability, level * atoms[k].probability, 1});
    while (blocks.size() > 1) {
      const Block top = blocks.back(), below = blocks[blocks.size() - 2];
      if (below.sum / below.weight < top.sum / top.weight) break;
      blocks.pop_back();
      blocks.back() = {below.weight + top.weight, below.sum + top.sum, below.count + top.count};
    }
  }
  std::vector<double> result;
  for (const Block& block : blocks) {
    for (size_t k = 0; k < block.count; ++k) result.push_back(block.sum / block.weight);
  }
  return result;
}

TEST(VirtualValue, IronsLikePoolingByHand) {
  for (uint32_t trial = 0; trial < 200; ++trial) {
    Rng rng(5, 1, trial);
    std::vector<double> values;
    const int count = 1 + static_cast<int>(rng.below(12));
    for (int k = 0; k < 3 * count; ++k) values.push_back(1 + rng.below(count));
    const Law law = empirical(values, "draws");
    const VirtualValue phi(*law);
    const std::vector<double> expected = pooled(law->atoms());
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_NEAR(phi(law->atoms()[k].value), expected[k], 1e-9);
    }
  }
}

// U[0,1] with probability 3/4, U[2,3] with 1/4: the best single price is 2 (earning 1/2), and
// everything from the tangent point up to 2 is ironed.
TEST(VirtualValue, IronsAGap) {
  const Law law = mixture({{0.75, uniform(0.0, 1.0)}, {0.25, uniform(2.0, 3.0)}});
  const VirtualValue phi(*law);
  ASSERT_EQ(phi.ironed().size(), 1u);
  EXPECT_NEAR(phi.ironed()[0].high, 2.0, 1e-12);
  // R(v) = v (1 - .75 v) below the gap; its tangent through (q, R) = (1/4, 1/2) touches where
  // (R - 1/2) = R'(q) (q - 1/4), R'(q) = 2 v - 4/3: .75 v^2 - 1.5 v + .5 = 0.
  const double touch = 1.0 - std::sqrt(1.0 / 3.0);
  EXPECT_NEAR(phi.ironed()[0].low, touch, 1e-3);
  EXPECT_NEAR(phi(1.5), 2 * touch - 4.0 / 3.0, 1e-6);
  EXPECT_NEAR(phi.reserve(), 2.0, 1e-12);
  EXPECT_NEAR(optimal_revenue({law}), 0.5, 1e-5);
}

TEST(OptimalRevenue, HasItsClosedForms) {
  const Law u = uniform(0.0, 1.0);
  EXPECT_NEAR(optimal_revenue({u}), 0.25, 1e-6);
  EXPECT_NEAR(optimal_revenue({u, u}), 5.0 / 12.0, 1e-6);
  EXPECT_NEAR(optimal_revenue({u, u, u}), 17.0 / 32.0, 1e-6);
  EXPECT_NEAR(optimal_revenue({exponential(1.0)}), std::exp(-1.0), 1e-5);
  EXPECT_NEAR(optimal_revenue({power(5.0)}), 0.25 * std::pow(1.25, -5.0), 1e-6);
}

TEST(OptimalSale, EqualBidsShareTheItem) {
  const auto phi = std::make_shared<VirtualValue>(*uniform(0.0, 1.0));
  const OptimalSale sale({phi, phi, phi});
  const double bids[3] = {0.8, 0.3, 0.8};
  double allocation[3] = {0, 0, 0}, payments[3] = {0, 0, 0};
  sale.run(bids, 1, allocation, payments);
  EXPECT_EQ(allocation[0], 0.5);
  EXPECT_EQ(allocation[1], 0.0);
  EXPECT_EQ(allocation[2], 0.5);
  EXPECT_NEAR(payments[0], 0.4, 1e-12);
}

TEST(OptimalSale, IsTheSecondPriceAuctionWithReserveOneHalf) {  // the example of ch. 1
  const auto phi = std::make_shared<VirtualValue>(*uniform(0.0, 1.0));
  const OptimalSale sale({phi, phi});
  for (uint32_t k = 0; k < 2000; ++k) {
    Rng rng(1, 2, k);
    const double bids[2] = {rng.uniform(), rng.uniform()};
    double allocation[2] = {0, 0}, payments[2] = {0, 0};
    sale.run(bids, 1, allocation, payments);
    const int winner = bids[1] > bids[0];
    const double second = bids[1 - winner];
    EXPECT_EQ(allocation[winner], bids[winner] >= 0.5 ? 1.0 : 0.0);
    EXPECT_NEAR(payments[winner], bids[winner] >= 0.5 ? std::max(0.5, second) : 0.0, 1e-9);
    EXPECT_EQ(payments[1 - winner], 0.0);
  }
}

}  // namespace
}  // namespace agora::auctions
