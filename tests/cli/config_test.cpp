#include "cli/config.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/program.h"

namespace agora::cli {
namespace {

Verb verb() {
  return {.name = "plan try", .summary = "", .example = "", .declare = [](OptionList& app) {
            struct Options {
              std::string model;
              double beta = 1;
              bool loud = false;
              std::vector<int> sizes;
            };
            auto options = std::make_shared<Options>();
            app.add("model", options->model, "").required();
            app.add("--beta", options->beta, "").shows_default();
            app.flag("--loud", options->loud, "");
            app.add("--sizes", options->sizes, "");
            return [options](const Common&) {};
          }};
}

Json parsed(const std::vector<std::string>& words) {
  const Verb tried = verb();
  Parser parser(tried);
  parser.app.parse(words);
  return resolved_settings(tried, parser.app);
}

std::vector<std::string> configured(const std::string& toml,
                                    const std::vector<std::string>& words) {
  const Scratch scratch;
  scratch.put("c.toml", toml);
  return with_config(verb(), (scratch / "c.toml").string(), words);
}

TEST(Config, CommandLineWins) {
  const auto settings = parsed(configured("beta = 2.5\nseed = 4\n", {"--beta", "3", "maze.map"}));
  EXPECT_EQ(settings["beta"], 3);
  EXPECT_EQ(settings["seed"], 4);
}

TEST(Config, TakesPositionalsFlagsAndLists) {
  const auto settings =
      parsed(configured("model = 'a.map'\nloud = true\nsizes = [1, -2, 3]\n", {}));
  EXPECT_EQ(settings["model"], "a.map");
  EXPECT_EQ(settings["loud"], true);
  EXPECT_EQ(settings["sizes"], (Json{1, -2, 3}));
}

TEST(Config, ResolvedSettingsReadBackTheSame) {
  const auto settings =
      parsed({"m", "--beta=-0.25", "--loud", "--sizes", "7", "--seed", "12345678901234567890"});
  std::string toml;
  for (const auto& [key, value] : settings.items()) toml += key + " = " + dump_json(value) + "\n";
  EXPECT_EQ(parsed(configured(toml, {})), settings);
}

TEST(Config, UnknownKeyIsAnErrorWithASuggestion) {
  try {
    configured("\nbeat = 2\n", {});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("c.toml:2: unknown key 'beat' (did you mean 'beta'?)"),
              std::string::npos)
        << error.what();
  }
}

TEST(Config, AFlagIsTrueOrFalse) {
  for (const char* wrong : {"[]", "[true, false]", "[[]]", "{}"}) {
    EXPECT_THROW(configured(std::string("loud = ") + wrong + "\n", {"m"}), UserError) << wrong;
  }
  EXPECT_EQ(parsed(configured("loud = [true]\n", {"m"}))["loud"], true);
}

TEST(Config, AnotherVerbsFileIsRefused) {
  EXPECT_THROW(configured("verb = 'plan show'\n", {}), UserError);
  EXPECT_NO_THROW(configured("verb = 'plan try'\nversion = '0.1.0'\n", {"m"}));
}

}  // namespace
}  // namespace agora::cli
