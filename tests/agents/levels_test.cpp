#include "agents/levels.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "agents/players.h"

namespace agora::agents {
namespace {

TEST(Levels, AreARangeOrAList) {
  const Levels range = Levels::range(10, 5), list = Levels::list({7, 7, 3});
  EXPECT_EQ(range.size(), 5);
  EXPECT_EQ(range[4], 14);
  EXPECT_EQ(list.size(), 3);
  EXPECT_EQ(list[2], 3);
  EXPECT_EQ(Levels::all().size(), int64_t{1} << 31);
  EXPECT_EQ(range.text(), "levels 10 to 14");
  EXPECT_EQ(list.text(), "2 different levels of 3");
  expect_user_error([] { Levels::range(0, 0); }, {"at least one level", "found 0"});
  expect_user_error([] { Levels::list({}); }, {"at least one level"});
  expect_user_error([] { Levels::range(-1, 5); }, {"levels go from 0"});
  expect_user_error([] { Levels::range(Levels::kAll - 1, 2); }, {"levels go from 0"});
  expect_user_error([] { Levels::list({Levels::kAll}); }, {"levels go from 0"});
  expect_user_error([] { Levels::all().bootstrap(1, 0); }, {"too many"});
}

// Chi-square with 9 degrees of freedom exceeds 40 once in 100,000 times; a level that stands twice
// is drawn twice as often.
TEST(Levels, AreDrawnWithTheSameChance) {
  const Levels levels = Levels::list({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9});
  constexpr double kDraws = 22'000;
  std::vector<double> counts(10), expected(10, kDraws / 11);
  expected[9] *= 2;
  for (int64_t episode = 0; episode < 2000; ++episode) {
    for (int64_t environment = 0; environment < 11; ++environment) {
      ++counts[static_cast<size_t>(levels.draw(3, environment, episode))];
    }
  }
  EXPECT_LT(chi_square(counts, expected), 40);
  EXPECT_EQ(levels.draw(3, 5, 7), levels.draw(3, 5, 7));
}

// Chi-square with 2 degrees of freedom exceeds 23 once in 100,000 times.
TEST(Levels, ArePreferred) {
  Levels levels = Levels::list({5, 6, 6, 7, 8});
  const int64_t before = levels.draw(3, 5, 7);
  levels.prefer(std::vector<double>{1, 2, 0.5, 0, 0.5});
  constexpr double kDraws = 8000;
  std::map<int64_t, double> counts;
  for (int64_t episode = 0; episode < 1000; ++episode) {
    for (int64_t environment = 0; environment < 8; ++environment) {
      ++counts[levels.draw(3, environment, episode)];
    }
  }
  EXPECT_EQ(counts.count(7), 0U);
  EXPECT_LT(chi_square({counts[5], counts[6], counts[8]},
                       {kDraws / 4, kDraws * 2.5 / 4, kDraws * 0.5 / 4}),
            23);
  levels.prefer({});
  EXPECT_EQ(levels.draw(3, 5, 7), before);
}

// 1 - 1/e of the levels are in a bootstrap sample: of 10,000 within five standard deviations, each
// of about .31 sqrt(10,000).
TEST(Levels, HaveBootstrapSamples) {
  const Levels levels = Levels::range(50, 10'000);
  const Levels sample = levels.bootstrap(1, 0);
  std::set<int64_t> different;
  for (int64_t k = 0; k < sample.size(); ++k) different.insert(sample[k]);
  EXPECT_EQ(sample.size(), 10'000);
  EXPECT_GE(*different.begin(), 50);
  EXPECT_LT(*different.rbegin(), 10'050);
  EXPECT_NEAR(static_cast<double>(different.size()), 6321, 155);
  const Levels other = levels.bootstrap(1, 1);
  int64_t same = 0;
  for (int64_t k = 0; k < sample.size(); ++k) same += sample[k] == other[k];
  EXPECT_LT(same, 20);
  // Of a list: of its levels, as often as they stand there.
  const Levels again = Levels::list({4, 9}).bootstrap(2, 0);
  EXPECT_TRUE((again[0] == 4 || again[0] == 9) && (again[1] == 4 || again[1] == 9));
}

TEST(Levels, HaveParts) {
  const Levels levels = Levels::range(5, 10);
  std::multiset<int64_t> all;
  for (int64_t part = 0; part < 3; ++part) {
    const Levels own = levels.part(part, 3);
    for (int64_t k = 0; k < own.size(); ++k) all.insert(own[k]);
  }
  EXPECT_EQ(all, (std::multiset<int64_t>{5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
}

}  // namespace
}  // namespace agora::agents
