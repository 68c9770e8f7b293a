#include "report/scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "report/thin.h"

namespace agora::report {
namespace {

using Words = std::vector<std::string>;

Words labels(const AxisScale& scale, int wanted) {
  Words result;
  for (const Tick& tick : ticks(scale, wanted)) result.push_back(tick.label);
  return result;
}

AxisScale fixed(double low, double high, bool log = false) {
  return AxisScale({.log = log, .low = low, .high = high}, {}, 0);
}

TEST(AxisScale, TicksAreRound) {
  EXPECT_EQ(labels(fixed(0, 1), 5), (Words{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(fixed(-3, 7), 5), (Words{"−2", "0", "2", "4", "6"}));
  EXPECT_EQ(labels(fixed(0, 25e6), 5), (Words{"0", "5M", "10M", "15M", "20M", "25M"}));
  EXPECT_EQ(labels(fixed(0, 2e-5), 2), (Words{"0", "1e-05", "2e-05"}));
  EXPECT_EQ(labels(fixed(1e-4, 100, true), 10),
            (Words{"10⁻⁴", "10⁻³", "0.01", "0.1", "1", "10", "100"}));
  EXPECT_EQ(labels(fixed(1, 6, true), 5), (Words{"1", "2", "5"}));
}

// Bidders and iterations are counted: no tick at 2.5.
TEST(AxisScale, CountedThingsHaveWholeTicks) {
  const auto of = [](const std::vector<double>& values, bool log = false) {
    Extent extent;
    extent.add(values, log);
    return labels(AxisScale({.log = log}, extent, 0.02), 6);
  };
  EXPECT_EQ(of({2, 3, 4}), (Words{"2", "3", "4"}));
  EXPECT_EQ(of({0, 1}), (Words{"0", "1"}));
  EXPECT_EQ(of({0, 10}), (Words{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(of({2, 3, 3.5}), (Words{"2.0", "2.5", "3.0", "3.5"}));
  EXPECT_EQ(of({1, 2, 3}, true), (Words{"1", "2", "3"}));
  EXPECT_EQ(of({1, 1.25, 3}, true), (Words{"1", "1.5", "2", "3"}));
}

TEST(AxisScale, ConstantAndTinyRangesHaveRoom) {
  for (const double value : {0.0, 5.0, -3e200, 1e-320}) {
    Extent extent;
    extent.add(value);
    const AxisScale scale({}, extent, 0.05);
    EXPECT_LT(scale.low(), scale.high());
    EXPECT_NEAR(scale(value), 0.5, 0.51);
    EXPECT_LT(ticks(scale, 6).size(), 20u);
  }
}

TEST(AxisScale, PlacesValuesByDistanceOrByRatio) {
  EXPECT_NEAR(fixed(1, 100)(10), 9.0 / 99, 1e-12);
  EXPECT_NEAR(fixed(1, 100, true)(10), 0.5, 1e-12);
  EXPECT_NEAR(fixed(1e-4, 1, true)(1e-3), 0.25, 1e-12);
}

// Room on both sides, but not across zero for data that is never negative.
TEST(AxisScale, StaysOnItsSideOfZero) {
  const auto around = [](double low, double high) {
    Extent extent;
    extent.add(std::vector<double>{low, high});
    return AxisScale({}, extent, 0.05);
  };
  EXPECT_EQ(around(0.1, 10).low(), 0);
  EXPECT_EQ(around(0, 10).low(), 0);
  EXPECT_NEAR(around(5, 10).low(), 4.75, 1e-12);
  EXPECT_NEAR(around(-1, 10).low(), -1.55, 1e-12);
  EXPECT_NEAR(around(0, 10).high(), 10.5, 1e-12);
}

TEST(Thin, KeepsExtremesEndsAndGaps) {
  Series series{.name = "s", .x = {}, .y = {}};
  for (int i = 0; i < 100'000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i == 777 ? 9 : i == 55'555 ? -9 : i == 30'000 ? NAN : 0.5);
  }
  const Series small = thin(series, 1000);
  EXPECT_LE(small.x.size(), 1100u);
  EXPECT_EQ(small.x.front(), 0);
  EXPECT_EQ(small.x.back(), 99'999);
  for (const double kept : {777.0, 30'000.0, 55'555.0})
    EXPECT_EQ(std::count(small.x.begin(), small.x.end(), kept), 1) << kept;
  EXPECT_TRUE(std::is_sorted(small.x.begin(), small.x.end()));
}

TEST(Thin, AveragesCells) {
  HeatMap map{.title = "", .rows = 2, .columns = 4, .values = {1, 3, NAN, 5, 5, 7, NAN, NAN}};
  const HeatMap small = thin(map, 2);
  ASSERT_EQ(small.values.size(), 4u);
  EXPECT_EQ(small.rows, 2);
  EXPECT_EQ(small.values[0], 2);
  EXPECT_EQ(small.values[1], 5);
  EXPECT_EQ(small.values[2], 6);
  EXPECT_TRUE(std::isnan(small.values[3]));
  EXPECT_EQ(small.x.high, 4);
}

TEST(Histogram, CountsEverySampleOnce) {
  const double inf = std::numeric_limits<double>::infinity();
  const Histogram result = histogram({0, 0.1, 0.5, 0.99, 1, NAN, inf}, 2);
  EXPECT_EQ(result.edges, (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(result.counts, (std::vector<double>{2, 3}));
  EXPECT_EQ(histogram({4, 4, 4}, 3).counts, (std::vector<double>{0, 3, 0}));
  EXPECT_TRUE(histogram({}).counts.empty());
  for (const double odd : {5e-324, 1e-300, 1e308}) {
    const Histogram bins = histogram({0, odd, -odd}, 10);
    EXPECT_EQ(std::accumulate(bins.counts.begin(), bins.counts.end(), 0.0), 3) << odd;
  }
}

}  // namespace
}  // namespace agora::report
