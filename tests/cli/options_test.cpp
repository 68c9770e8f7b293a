#include "cli/options.h"

#include <gtest/gtest.h>

#include "support/scratch.h"

namespace agora::cli {
namespace {

struct Targets {
  std::string model, name = "plain";
  std::vector<std::string> files;
  double beta = 1;
  std::optional<double> mu;
  int64_t steps = 10;
  uint64_t seed = 0;
  bool loud = false;
};

class Options : public ::testing::Test {
 protected:
  Options() {
    list.add("model", to.model, "A model").required().check(one_of({"maze", "cliff"}));
    list.add("files", to.files, "Files");
    list.add("--beta", to.beta, "Inverse temperature").shows_default();
    list.add("--mu", to.mu, "Chemical potential");
    list.add("--steps", to.steps, "Steps").check(between(1, 100)).shows_default();
    list.add("--seed", to.seed, "Seed");
    Option& name = list.add("--name", to.name, "A name").required();
    list.flag("--loud", to.loud, "Say more").excludes(name);
    list.add("--secret", to.name, "For ourselves").hidden();
  }
  void refused(const std::vector<std::string>& words, const std::string& fragment) {
    expect_user_error([&] { list.parse(words); }, {"try: ", fragment});
  }

  Targets to;
  OptionList list{"Tries", "try"};
};

TEST_F(Options, ReadWhatIsWritten) {
  ASSERT_TRUE(list.parse({"maze", "--beta", "-2.5e1", "a", "--mu=-1", "--name", "x y", "b",
                          "--steps", "+7", "--seed=18446744073709551615", "--", "--loud"}));
  EXPECT_EQ(to.model, "maze");
  EXPECT_EQ(to.files, (std::vector<std::string>{"a", "b", "--loud"}));
  EXPECT_EQ(to.beta, -25);
  EXPECT_EQ(to.mu, -1);
  EXPECT_EQ(to.steps, 7);
  EXPECT_EQ(to.seed, 18446744073709551615U);
  EXPECT_EQ(to.name, "x y");
  EXPECT_FALSE(to.loud);
  EXPECT_TRUE(list.given("--mu"));
  EXPECT_FALSE(list.given("--loud"));
}

TEST_F(Options, MistakesAreToldInOrder) {
  refused({}, "model is required");
  refused({"maze"}, "--name is required");
  refused({"--steps", "0"}, "--steps: expected 1 to 100");  // before the model that is missing
  refused({"mase"}, "model: expected maze or cliff, found 'mase' (did you mean 'maze'?)");
  refused({"mase", "--nobody"}, "unknown option '--nobody'");
  refused({"mase", "a"}, "found 'mase'");
  refused({"--stepz", "3"}, "unknown option '--stepz' (did you mean '--steps'?)");
  refused({"maze", "--name", "x", "-q"}, "unknown option '-q'");
  refused({"maze", "--secrets", "x"}, "unknown option '--secrets'");
  refused({"maze", "--steps", "101"}, "--steps: expected 1 to 100, found 101");
  refused({"maze", "--steps", "1.5"}, "--steps: expected a whole number, found '1.5'");
  refused({"maze", "--steps", "99999999999999999999"}, "from -9223372036854775808 to");
  refused({"maze", "--seed", "-1"}, "from 0 to 18446744073709551615");
  for (const char* text : {"1x", "", " 1", "nan", "one"}) {
    refused({"maze", "--beta", text}, "--beta: expected a number, found");
  }
  refused({"maze", "--beta", "1e999"}, "up to 1.8e+308 in size");
  refused({"maze", "--beta"}, "--beta: expected a value, found nothing");
  refused({"maze", "--beta", "--loud"}, "--beta: expected a value, found nothing");
  refused({"maze", "--beta", "1", "--beta=2"}, "--beta: expected one value, found 2");
  refused({"maze", "--name", "x", "--loud"}, "--loud excludes --name");
  refused({"maze", "--name", "x", "--loud=maybe"}, "--loud: expected true or false");
}

TEST_F(Options, HelpWinsOverMistakes) {
  EXPECT_FALSE(list.parse({"mase", "--beta", "x", "--help"}));
  const std::string help = list.help();
  for (const char* line :
       {"Usage: agora try [OPTIONS] model [files...]\n",
        "\n  model TEXT REQUIRED         A model\n", "\n  --steps INT=10              Steps\n",
        "\n  --mu FLOAT                  Chemical potential\n",
        "\n  --loud                      Say more\n"}) {
    EXPECT_NE(help.find(line), std::string::npos) << help;
  }
  EXPECT_EQ(help.find("secret"), std::string::npos);
}

// A run keeps defaults in its configuration, and resumes from there.
TEST(OptionDefaults, LoseNoDigit) {
  double rate = 0.1 + 0.2, small = 1e-6;
  OptionList list("Tries", "try");
  EXPECT_EQ(std::stod(list.add("--rate", rate, "").shows_default().default_text()), 0.1 + 0.2);
  EXPECT_EQ(list.add("--small", small, "").shows_default().default_text(), "1e-06");
}

TEST_F(Options, TellWhatIsGivenWhateverElseIsWrong) {
  EXPECT_EQ(list.given_in({"mase", "--nobody", "--beta", "x", "--steps"}),
            (std::vector<std::string>{"model", "beta"}));
}

TEST(OptionHelp, BreaksLongWordsAtTheWidth) {
  std::string target;
  OptionList list("Tries", "try");
  list.add("--a-very-long-name-of-an-option", target,
           "words that go on and on until they have to be broken because no terminal is that wide "
           "at all, at least not mine");
  std::istringstream lines(list.help());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

}  // namespace
}  // namespace agora::cli
