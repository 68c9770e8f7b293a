#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace agora {
namespace {

// Seeds are fixed, so that a test passes always or never; bounds are 5 standard errors (a sound
// generator fails one in 3.5 million) unless said otherwise.
constexpr int kDraws = 1'000'000;

// |mean of kDraws values - expected| <= 5 standard errors.
template <typename Draw>
void expect_mean(double expected, double variance, Draw&& draw) {
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) sum += draw();
  EXPECT_NEAR(sum / kDraws, expected, 5 * std::sqrt(variance / kDraws));
}

// Pearson's statistic against equal cells: mean k-1, variance 2(k-1).
void expect_uniform(const std::vector<int64_t>& counts) {
  const double total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  const double expected = total / static_cast<double>(counts.size());
  double statistic = 0;
  for (const int64_t count : counts) {
    statistic += std::pow(static_cast<double>(count) - expected, 2) / expected;
  }
  const double freedom = static_cast<double>(counts.size() - 1);
  EXPECT_NEAR(statistic, freedom, 5 * std::sqrt(2 * freedom));
}

// Known-answer vectors published with Random123 (kat_vectors, philox4x32 10).
TEST(Rng, MatchesPublishedVectors) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t f = 0xffffffff;
  EXPECT_EQ(philox4x32({f, f, f, f}, {f, f}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, DrawsAreAPureFunctionOfTheAddress) {
  Rng one(5, 1, 2, 3), two(5, 1, 2, 3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.bits(), two.bits());
  // Every part of the address counts, the high word of the seed too.
  const std::set<uint64_t> first{Rng(5, 1, 2, 3).bits64(), Rng(6, 1, 2, 3).bits64(),
                                 Rng(5, 2, 2, 3).bits64(), Rng(5, 1, 3, 3).bits64(),
                                 Rng(5, 1, 2, 4).bits64(), Rng(5 + (1ull << 32), 1, 2, 3).bits64()};
  EXPECT_EQ(first.size(), 6u);
}

TEST(Rng, UniformFillsTheUnitInterval) {
  Rng rng(1);
  expect_mean(0.5, 1.0 / 12, [&] { return rng.uniform(); });
  expect_mean(0.5, 1.0 / 12, [&] { return rng.uniform32(); });
  expect_mean(1.0 / 3, 4.0 / 45, [&] { return std::pow(rng.uniform(), 2); });
  expect_mean(-1, 3, [&] { return rng.uniform(-4, 2); });
  std::vector<int64_t> cells(1000), cells32(1000);
  for (int i = 0; i < kDraws; ++i) {
    ++cells[static_cast<size_t>(rng.uniform() * 1000)];  // [0, 1): at() would throw at 1
    ++cells32[static_cast<size_t>(rng.uniform32() * 1000)];
  }
  expect_uniform(cells);
  expect_uniform(cells32);
}

TEST(Rng, NormalHasItsMomentsAndTails) {
  Rng rng(2);
  expect_mean(0, 1, [&] { return rng.normal(); });
  expect_mean(1, 2, [&] { return std::pow(rng.normal(), 2); });
  expect_mean(0, 15, [&] { return std::pow(rng.normal(), 3); });
  expect_mean(3, 96, [&] { return std::pow(rng.normal(), 4); });
  for (const double x : {-3.0, -1.0, 0.0, 0.5, 2.0}) {  // the distribution function
    const double below = 0.5 * std::erfc(-x / std::sqrt(2.0));
    expect_mean(below, below * (1 - below), [&] { return rng.normal() < x ? 1.0 : 0.0; });
  }
}

TEST(Rng, ExponentialHasItsMomentsAndTail) {
  Rng rng(3);
  expect_mean(1, 1, [&] { return rng.exponential(); });
  expect_mean(2.5, 6.25, [&] { return rng.exponential(2.5); });
  expect_mean(2, 20, [&] { return std::pow(rng.exponential(), 2); });
  const double tail = std::exp(-3.0);
  expect_mean(tail, tail * (1 - tail), [&] { return rng.exponential() > 3 ? 1.0 : 0.0; });
}

TEST(Rng, BelowIsUnbiased) {
  Rng rng(4);
  for (const uint32_t bound : {1u, 2u, 3u, 7u, 10u, 1000u}) {
    std::vector<int64_t> counts(bound);
    for (int i = 0; i < kDraws; ++i) ++counts.at(rng.below(bound));
    if (bound > 1) expect_uniform(counts);
  }
  // With 3 * 2^30 a plain modulo would hit the lowest third twice as often as the others.
  const uint32_t large = 3u << 30;
  expect_mean(1.0 / 3, 2.0 / 9, [&] { return rng.below(large) < large / 3 ? 1.0 : 0.0; });
}

TEST(Rng, ShuffleReachesEveryOrderAlike) {
  Rng rng(5);
  std::vector<int64_t> counts(24);
  for (int i = 0; i < 240'000; ++i) {
    std::vector<int> items{0, 1, 2, 3};
    rng.shuffle(items);
    size_t rank = 0;  // the number of the permutation
    for (size_t a = 0; a < 4; ++a) {
      size_t smaller = 0;
      for (size_t b = a + 1; b < 4; ++b) smaller += items[b] < items[a];
      rank = rank * (4 - a) + smaller;
    }
    ++counts[rank];
  }
  expect_uniform(counts);
  std::vector<int> empty;
  rng.shuffle(empty);
}

TEST(Rng, BootstrapDrawsWithReplacement) {
  Rng rng(6);
  std::vector<int64_t> counts(50);
  double distinct = 0;
  std::vector<uint32_t> sample(50);
  for (int i = 0; i < 10'000; ++i) {
    rng.bootstrap(sample, 50);
    for (const uint32_t index : sample) ++counts.at(index);
    distinct += static_cast<double>(std::set<uint32_t>(sample.begin(), sample.end()).size());
  }
  expect_uniform(counts);
  // 50 (1 - (1 - 1/50)^50) different indices are expected; their variance is below 50/4.
  EXPECT_NEAR(distinct / 10'000, 50 * (1 - std::pow(0.98, 50)), 5 * std::sqrt(12.5 / 10'000));
}

// The first draws of neighbouring rows, steps, streams and seeds look as independent as the draws
// of one generator: uniform, and uncorrelated with the neighbour.
TEST(Rng, NeighbouringAddressesAreIndependent) {
  constexpr uint32_t kCount = 200'000;
  for (int part = 0; part < 4; ++part) {
    std::vector<int64_t> cells(100);
    double products = 0, previous = 0;
    for (uint32_t i = 0; i < kCount; ++i) {
      Rng rng = part == 0   ? Rng(i, 1, 1, 1)
                : part == 1 ? Rng(1, i, 1, 1)
                : part == 2 ? Rng(1, 1, i, 1)
                            : Rng(1, 1, 1, i);
      const double draw = rng.uniform() - 0.5;
      ++cells[static_cast<size_t>((draw + 0.5) * 100)];
      if (i > 0) products += draw * previous;
      previous = draw;
    }
    expect_uniform(cells);
    EXPECT_NEAR(products / kCount, 0, 5 * (1.0 / 12) / std::sqrt(kCount)) << part;
  }
}

}  // namespace
}  // namespace agora
