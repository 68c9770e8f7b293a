#include "base/parameter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/scratch.h"

namespace agora {
namespace {

const std::vector<Parameter> kParameters{{"points", 50, 1, 1000, true, "points per item"},
                                         {"rate", 0.1, kAboveZero, 1, false, "learning rate"},
                                         {"mu", {}, -kFinite, kFinite, false, "potential"},
                                         flag("bayesian", "on average"),
                                         file("menu", "choices"),
                                         numbers("reserve", 0, 0, 5, "of each item")};

TEST(Parameters, ArePresetUnlessTold) {
  const Told nothing("lp", kParameters, {});
  EXPECT_EQ(nothing.whole("points"), 50);
  EXPECT_EQ(nothing.number("rate"), 0.1);
  EXPECT_FALSE(nothing.flag("bayesian"));
  EXPECT_EQ(nothing.text("menu"), "");
  EXPECT_EQ(nothing.numbers("reserve"), std::vector<double>{0});
  EXPECT_EQ(Told("lp", kParameters, {{"reserve", 3}}).numbers("reserve"), std::vector<double>{3});
  EXPECT_EQ(Told("lp", kParameters, {{"reserve", "1,0.5,2"}}).numbers("reserve"),
            (std::vector<double>{1, 0.5, 2}));
  const Told all("lp", kParameters,
                 {{"points", 7}, {"rate", 1.0}, {"mu", -2}, {"bayesian", true}, {"menu", "m.csv"}});
  EXPECT_EQ(all.whole<int64_t>("points"), 7);
  EXPECT_EQ(all.number("rate"), 1.0);
  EXPECT_EQ(all.number("mu"), -2);
  EXPECT_TRUE(all.flag("bayesian"));
  EXPECT_EQ(all.text("menu"), "m.csv");
}

TEST(Parameters, RefuseWhatIsNotDeclared) {
  const auto refused = [](const Arguments& told, const std::vector<std::string>& words) {
    expect_user_error([&] { Told("lp", kParameters, told); }, words);
  };
  refused({{"pionts", 5}}, {"lp takes no 'pionts' (did you mean 'points'?)", "rate", "menu"});
  refused({{"points", 0}}, {"lp: points is 0, expected 1 to 1000"});
  refused({{"points", 2.5}}, {"lp: points is 2.5, expected a whole number"});
  refused({{"points", std::nan("")}}, {"lp: points is nan, expected"});
  refused({{"points", true}}, {"lp: points is true, expected a number"});
  refused({{"points", "5"}}, {"lp: points is '5', expected a number"});
  refused({{"rate", 0.0}}, {"lp: rate is 0, expected above 0, at most 1"});
  refused({{"mu", INFINITY}}, {"lp: mu is inf, expected a finite number"});
  refused({{"bayesian", 1}}, {"lp: bayesian is 1, expected true or false"});
  refused({{"reserve", "1,6"}}, {"lp: reserve is '1,6', expected 0 to 5"});
  refused({{"reserve", "1,"}}, {"lp: reserve is '1,', expected numbers"});
  refused({{"reserve", ""}}, {"expected numbers"});
  refused({{"menu", 1.5}}, {"lp: menu is 1.5, expected the name of a file"});
  expect_user_error([] { Told("vcg", {}, {{"points", 5}}); }, {"vcg takes no 'points'"});
}

TEST(Parameters, SayWhatTheyExpect) {
  const auto wanted = [](double low, double high, bool whole, double number) {
    return expected({"x", {}, low, high, whole, ""}, number);
  };
  EXPECT_EQ(wanted(0, 1, false, 0), "");
  EXPECT_EQ(wanted(0, 1, false, 1), "");
  EXPECT_EQ(wanted(0, 1, false, 1.5), "0 to 1");
  EXPECT_EQ(wanted(0, kBelowOne, false, 1), "0 or more, below 1");
  EXPECT_EQ(wanted(0, kBelowOne, false, 0.999), "");
  EXPECT_EQ(wanted(kAboveZero, kFinite, false, 0), "a positive number");
  EXPECT_EQ(wanted(1, kMost<int64_t>, true, 0), "a positive number");
  EXPECT_EQ(wanted(0, kMost<int64_t>, true, -1), "a number of at least 0");
  EXPECT_EQ(wanted(1, kMost<int32_t>, true, 3e9), "1 to 2147483647");
  EXPECT_EQ(wanted(0, kFinite, false, -1), "a finite number of at least 0");
  EXPECT_EQ(wanted(0, INFINITY, false, INFINITY), "");
  EXPECT_EQ(wanted(0, INFINITY, false, -1), "a number of at least 0");
}

struct Options {
  double rate = 0.25;
  int64_t runs = 10;
  std::optional<double> mu = {};
};

TEST(Parameters, AreMembersOfOptions) {
  const std::vector<OptionParameter<Options>> known{
      parameter("rate", &Options::rate, 0, 1, "rate"),
      parameter("runs", &Options::runs, 1, 100, "runs"),
      parameter("mu", &Options::mu, -kFinite, 0, "potential")};
  EXPECT_EQ(known[0].preset, 0.25);
  EXPECT_EQ(known[1].preset, 10);
  EXPECT_TRUE(known[1].whole);
  EXPECT_FALSE(known[2].preset);
  Options options;
  tell_options(options, "learner", known, {{"runs", 3}, {"mu", -1.5}});
  EXPECT_EQ(options.rate, 0.25);
  EXPECT_EQ(options.runs, 3);
  EXPECT_EQ(options.mu, -1.5);
  check_members("learner", known, options);
  options.runs = 101;
  expect_user_error([&] { check_members("learner", known, options); },
                    {"learner: runs is 101, expected 1 to 100"});
  expect_user_error(
      [&] {
        tell_options(options, "learner", known, {{"rate", 2}});
      },
      {"learner: rate is 2, expected 0 to 1"});
}

}  // namespace
}  // namespace agora
