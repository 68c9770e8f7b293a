#include "base/error.h"

#include <gtest/gtest.h>

#include <csignal>

#include "base/text.h"

namespace agora {
namespace {

TEST(Error, ChecksNameThePlaceAndTheCondition) {
  EXPECT_NO_THROW(CHECK(1 < 2));
  const int n = 3;
  try {
    CHECK(n < 2, "n is {}", n);
    FAIL() << "no error";
  } catch (const UserError&) {
    FAIL() << "a fault of ours is not the user's mistake";
  } catch (const Error& error) {
    const std::string line = error.what();
    EXPECT_NE(line.find("error_test.cpp"), std::string::npos) << line;
    EXPECT_NE(line.find("n < 2 does not hold: n is 3"), std::string::npos) << line;
  }
}

TEST(Error, UserErrorsAreFormatted) {
  EXPECT_STREQ(user_error("{}:{}: expected {}", "f", 3, "x").what(), "f:3: expected x");
  EXPECT_EQ(Interrupted(SIGTERM).signal(), SIGTERM);
}

TEST(Error, UserErrorsAreOneLineWhateverTheyQuote) {
  EXPECT_STREQ(user_error("no file '{}'", "a\nb\r\x1b\x7f").what(),
               "no file 'a\\x0ab\\x0d\\x1b\\x7f'");
  EXPECT_STREQ(user_error("no file '{}'", "na\xc3\xafve \\n").what(), "no file 'na\xc3\xafve \\n'");
  const auto shown = [](const std::string& text) {
    return std::string(user_error("{}", text).what());
  };
  EXPECT_EQ(shown("a\xc2\x9b"
                  "2J\xc2\xa0"),
            "a\\xc2\\x9b2J\xc2\xa0");
  EXPECT_EQ(shown("a\x9b"
                  "2J\xff"),
            "a\\x9b2J\\xff");
  EXPECT_EQ(shown("\u2028 \u2029 \u2026"), "\\xe2\\x80\\xa8 \\xe2\\x80\\xa9 \u2026");
  EXPECT_EQ(shown("\U0001F600 \xf0\x9f\x98"), "\U0001F600 \\xf0\\x9f\\x98");
  EXPECT_EQ(shown("\xe2("), "\\xe2(");
  EXPECT_EQ(shown("\xe2((("), "\\xe2(((");
}

TEST(Error, SuggestsTheNearestName) {
  const std::vector<std::string> names{"regretnet", "algnet", "vcg"};
  EXPECT_EQ(suggestion("regretnt", names), " (did you mean 'regretnet'?)");
  EXPECT_EQ(suggestion("algent", names), " (did you mean 'algnet'?)");
  EXPECT_EQ(suggestion("vgc", names), " (did you mean 'vcg'?)");
  EXPECT_EQ(suggestion("something else", names), "");
  EXPECT_EQ(suggestion("x", {}), "");
}

TEST(Text, PrintableIsOneShortLine) {
  EXPECT_EQ(printable("plain"), "plain");
  EXPECT_EQ(printable(std::string_view("a\n\0\xff", 4)), "a\\x0a\\x00\\xff");
  EXPECT_EQ(printable(std::string(50, 'x')), std::string(40, 'x') + "...");
  EXPECT_EQ(trimmed(" \t a b \t"), "a b");
  EXPECT_EQ(trimmed("  "), "");
}

}  // namespace
}  // namespace agora
