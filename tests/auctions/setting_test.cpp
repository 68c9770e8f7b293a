#include "auctions/setting.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "auctions/profiles.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

std::string message_of(const std::string& text) {
  try {
    setting(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Setting, ReadsTheGrammar) {
  const Setting b = setting("1x2 uniform(4,16) uniform(4,7)");
  EXPECT_EQ(b.bidders(), 1);
  EXPECT_EQ(b.items(), 2);
  EXPECT_EQ(b.domain(0, 0).high, 16.0);
  EXPECT_EQ(b.domain(0, 1).high, 7.0);
  EXPECT_FALSE(b.item_symmetric());
  const Setting plain = setting(" 3x10 ");
  EXPECT_EQ(laws_of(plain).rows[2]->marginals()[9]->text(), "uniform(0,1)");
  EXPECT_TRUE(plain.bidder_symmetric());
  const Setting two = setting("2x2 uniform(0,1) power(5) / exponential(2)");
  EXPECT_FALSE(two.bidder_symmetric());
  EXPECT_EQ(laws_of(two).rows[1]->marginals()[1]->text(), "exponential(2)");
  EXPECT_EQ(setting("1x1 mix(0.5 uniform(0,1), 0.5 mix(1 power(3)))").items(), 1);
  EXPECT_EQ(setting("2x3 copula(0.5) beta(2,2) normal(1,1,0,2) discrete(1:0.5,2:0.5)").items(), 3);
}

TEST(Setting, KnowsTheNamesOfTheThesis) {
  EXPECT_EQ(setting("II").bidders(), 4);
  EXPECT_EQ(setting("III_6").bidders(), 6);
  EXPECT_EQ(setting("III_6").items(), 10);
  EXPECT_EQ(laws_of(setting("VI(0.1)")).rows[0]->marginals()[1]->text(), "exponential(0.1)");
  EXPECT_EQ(setting("VI2(0.1)").bidders(), 2);
  EXPECT_EQ(setting("alpha(7)").items(), 7);
  EXPECT_EQ(setting("beta").bidders(), 2);
  EXPECT_EQ(setting("online").at(0.5).domain(0, 1).high, 1.5);
  EXPECT_EQ(setting("IV").text(), "IV");
}

TEST(Setting, TellsMistakesInOneLine) {
  const auto mentions = [](const std::string& text, const std::string& part) {
    const std::string message = message_of(text);
    EXPECT_NE(message.find(part), std::string::npos) << text << " -> " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  };
  mentions("", "found nothing");
  mentions("3y10", "expected 'x'");
  mentions("0x2", "number of bidders");
  mentions("2x2 unifrm(0,1)", "did you mean 'uniform'?");
  mentions("2x2 uniform(0)", "expected uniform(low,high), found 1 numbers");
  mentions("2x2 uniform(1,0)", "low < high");
  mentions("2x2 uniform(0,1", "expected ',' or ')'");
  mentions("2x2 uniform(0,a)", "found 'a)'");
  mentions("2x3 uniform(0,1) uniform(0,1)", "1 or 3 items, found 2");
  mentions("3x1 uniform(0,1) / uniform(0,1)", "1 or 3 bidders, found 2");
  mentions("1x3 triangle(1)", "2 items");
  mentions("VII", "did you mean");
  mentions("VI", "second item's mean");
  mentions("III_x", "number of bidders");
  mentions("A(3)", "takes no parameter");
  mentions("1x2 discrete(1:0.5)", "add up to 1");
  mentions("1x3 copula(-0.9) uniform(0,1)", "correlation");
  mentions("2x2 uniform(0,1);", "';'");
  mentions("2x2\nunifrm(0,1)", "2x2\\x0aunifrm(0,1)");
  mentions("VII\n", "did you mean");
  mentions("V\n(1)", "V\\x0a(1)");
}

TEST(Setting, RefusesMixturesWithoutEnd) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "mix(1 ";
    text += "uniform(0,1)" + std::string(static_cast<size_t>(depth), ')');
    return "1x2 " + text + " " + text;
  };
  EXPECT_EQ(setting(nested(20)).domain(0, 1).high, 1);
  EXPECT_NE(message_of(nested(21)).find("at most 20 mixtures"), std::string::npos);
  EXPECT_NE(message_of(nested(100'000)).find("at most 20 mixtures"), std::string::npos);
}

TEST(Setting, DrawsTheSameBitsForAnyThreadsAndSlices) {
  const Setting market = setting("2x3 copula(0.3) uniform(0,1) exponential(1) power(5)");
  std::vector<double> once(5000 * 6), pieces(5000 * 6);
  set_default_threads(1);
  market.sample(7, kEvaluationStream, 0, 5000, once.data());
  set_default_threads(3);
  market.sample(7, kEvaluationStream, 0, 1700, pieces.data());
  market.sample(7, kEvaluationStream, 1700, 3300, pieces.data() + 1700 * 6);
  EXPECT_EQ(once, pieces);
  std::vector<float> single(6);
  market.sample(7, kEvaluationStream, 4999, 1, single.data());
  for (int e = 0; e < 6; ++e) EXPECT_EQ(single[e], static_cast<float>(once[4999 * 6 + e]));
}

// Correlation of normal scores is rho; uniform scores of a Gaussian copula have 6/pi asin(rho/2).
TEST(Setting, CopulaCorrelatesItems) {
  const Setting market = setting("1x2 copula(0.6) uniform(0,1)");
  const int n = 100000;
  std::vector<double> v(2 * n);
  market.sample(1, kEvaluationStream, 0, n, v.data());
  double product = 0.0;
  for (int k = 0; k < n; ++k) product += (v[2 * k] - 0.5) * (v[2 * k + 1] - 0.5) / n;
  EXPECT_NEAR(12.0 * product, 6.0 / M_PI * std::asin(0.3), 0.015);
}

TEST(Setting, TriangleStaysInside) {
  const Setting market = setting("1x2 triangle(2)");
  std::vector<double> v(20000);
  market.sample(1, kEvaluationStream, 0, 10000, v.data());
  double mean = 0.0;
  for (int k = 0; k < 10000; ++k) {
    EXPECT_LE(v[2 * k] + v[2 * k + 1], 2.0);
    mean += v[2 * k] / 10000;
  }
  EXPECT_NEAR(mean, 2.0 / 3.0, 0.02);
}

class Tables : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    const auto path = std::filesystem::path(::testing::TempDir()) /
                      ("values_" + std::to_string(getpid()) + ".csv");
    std::ofstream(path) << text;
    return path.string();
  }
  std::string message(const std::string& text) {
    const std::string file = write(text);
    try {
      setting_from_values(file);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(Tables, BothFormsGiveTheSameProfiles) {
  const Setting wide = setting_from_values(write("b1i2,b1i1,b2i1,b2i2\n2,1,3,4\n6,5,7,8\n"));
  const Setting tall =
      setting_from_values(write("profile,bidder,item,value\na,1,1,1\na,1,2,2\na,2,1,3\na,2,2,4\n"
                                "b,2,2,8\nb,1,1,5\nb,2,1,7\nb,1,2,6\n"));
  EXPECT_EQ(laws_of(wide).table->design, (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(laws_of(tall).table->design, laws_of(wide).table->design);
}

// Rows of named bidders in another order, semicolons, decimal commas, a byte-order mark and CRLF.
TEST_F(Tables, FormsOfOtherProgramsGiveTheSameProfiles) {
  const std::vector<double> known{1.5, 2, 3, 4};
  for (const char* text :
       {"b1i1,b1i2,b2i1,b2i2\n1.5,2,3,4\n", "date,b1i1,b1i2,b2i1,b2i2\n2024-05-01,1.5,2,3,4\n",
        "b1i1,b1i2,b2i1,b2i2,profile\n1.5,2,3,4,x\n",
        "\xEF\xBB\xBFprofile;b1i1;b1i2;b2i1;b2i2\r\n1;1,5;2;3;4\r\n",
        "profile,bidder,item,value\nx,bob,1,3\nx,bob,2,4\nx,alice,1,1.5\nx,alice,2,2\n",
        "day;time;bidder;item;value\n1;9:00;bob;b;4\n1;9:00;alice;a;1,5\n1;9:00;alice;b;2\n"
        "1;9:00;bob;a;3\n",
        "value,item,bidder,date\n1.5,1, alice ,x\n2,2,alice,x\n3,1,bob,x\n4,2,\"bob\",x\n"}) {
    EXPECT_EQ(laws_of(setting_from_values(write(text))).table->design, known) << text;
  }
}

TEST_F(Tables, EveryTenthProfileIsHeldOut) {
  std::string text = "b1i1\n";
  for (int k = 0; k < 25; ++k) text += std::to_string(k) + "\n";
  const Setting market = setting_from_values(write(text));
  EXPECT_EQ(market.held_out(), 2);
  std::vector<double> held(3);
  market.sample_held_out(0, 0, 0, 3, held.data());
  EXPECT_EQ(held, (std::vector<double>{9, 19, 9}));
  EXPECT_EQ(laws_of(market).table->design_profiles(), 23);
}

TEST_F(Tables, TellsMistakesInOneLine) {
  const auto mentions = [&](const std::string& text, const std::string& part) {
    const std::string found = message(text);
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  mentions("b1i1,b1i2\n", "at least one profile");
  mentions("b1i1,b1i2\n1,-2\n", "at least 0");
  mentions("b1i1,b1i2\n1,nan\n", "found 'nan'");
  mentions("b1i1,b1i2\n1\n", ":2");
  mentions("b1i1,b2i2\n1,2\n", "'b1i2' is missing");
  mentions("b1i1,price\n1,2\n", "found 'price'");
  mentions("profile,bidder,item,value\n1,1,1,1\n1,2,1,1\n2,1,1,1\n", "no value of bidder 2");
  mentions("profile,bidder,item,value\n1,1,1,1\n1,1,1,1\n", "two values of bidder 1");
  mentions("profile,bidder,item,value\n1,1,1,1\n2,1,1,1\n2,2,1,1\n", "has bidder 2");
  mentions("profile,bidder,item,value\n1,0,1,1\n", "a bidder 1 to");
  mentions("price,day\n1,2\n", "found 'price'");
  mentions("B1i1,b1i2,b1i1\n1,2,3\n", "found 'B1i1'");
  mentions("b1i1,b1i2,note\n1,2,3\n", "found 'note'");
  mentions("b1i1;b1i2\n1,5;2\n1.5;2\n", "a decimal comma as before");
  const std::string head = "profile,bidder,item,value\n";
  mentions("bidder,item,value\n1,1,1\n", "expected a column 'profile'");
  mentions("profile,bidder,item,value,note\n1,1,1,1,x\n", "unknown column 'note'");
  mentions(head + "1,1,1,1\n1,alice,1,1\n", "column 'bidder': expected a whole number");
  mentions(head + "1,alice,1,1\n1,2,1,1\n", "column 'bidder': expected the name of a bidder");
  mentions(head + "1,alice,1,1\n1,,1,1\n", "column 'bidder': expected the name of a bidder");
  mentions(head + "1,alice,1,1\n2,bob,1,1\n",
           "expected a bidder of the first profile, found 'bob'");
  mentions(head + "1,a,1,1\n1,b,1,1\n2,a,1,1\n",
           "profile '2' has no value of bidder 'b' for item 1");
  mentions(head + "1,a,x,1\n1,a,x,2\n", "two values of bidder 'a' for item 'x'");
  mentions("profile,time,bidder,item,value\n1,9,1,1,1\n1,9,2,1,1\n2,9,1,1,1\n2,8,2,1,1\n",
           "no value of bidder 2 for item 1; its rows differ in column 'time'");
}

}  // namespace
}  // namespace agora::auctions
