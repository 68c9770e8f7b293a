#include "base/toml.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "support/scratch.h"

namespace agora {
namespace {

TEST(Toml, RoundTrip) {
  const Json json = {{"verb", "auction train"},
                     {"whole", 3},
                     {"real", 1.0},
                     {"tiny", 1e-300},
                     {"third", 1.0 / 3},
                     {"yes", true},
                     {"text", "a\"b\\c\n\t\x7f\x01 ü"},
                     {"list", {1, 2, 3}},
                     {"lists", {{1.5, 2.0}, {"x"}}},
                     {"tables", {{{"a", 1}}, {{"b", "c d"}}}},
                     {"a key", 1},
                     {"", 2},
                     {"table", {{"inner", {{"x", -1}}}, {"y.z", "w"}}}};
  const auto sorted = [](const Json& object) { return nlohmann::json::parse(dump_json(object)); };
  EXPECT_EQ(sorted(parse_toml(to_toml(json), "t")), sorted(json)) << to_toml(json);
  EXPECT_TRUE(parse_toml(to_toml(json), "t")["real"].is_number_float());
  EXPECT_EQ(to_toml({{"a", 1}, {"t", {{"b", 2.0}}}, {"none", nullptr}}), "a = 1\n\n[t]\nb = 2.0\n");
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(parse_toml(to_toml({{"x", -inf}}), "t")["x"].get<double>(), -inf);
}

TEST(Toml, FaultsNameThePlace) {
  expect_user_error([&] { parse_toml("a = 1\nb = \n", "t.toml"); }, {"t.toml:2:"});
  expect_user_error([&] { parse_toml("a = 1\na = 2\n", "t.toml"); }, {"t.toml:2:"});
  expect_user_error([&] { parse_toml("\x01\x02", "t.toml"); }, {"t.toml:1:"});
  expect_user_error([&] { parse_toml("a = \"\xff\"", "t.toml"); }, {"t.toml:1:"});
  EXPECT_EQ(parse_toml("", "t.toml"), Json::object());
  EXPECT_EQ(parse_toml("d = 2020-01-02", "t.toml")["d"], "2020-01-02");
}

}  // namespace
}  // namespace agora
