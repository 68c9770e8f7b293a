#include "base/json.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/files.h"
#include "support/scratch.h"

namespace agora {
namespace {

TEST(Json, RoundTripKeepsOrder) {
  const Scratch scratch;
  const Json json = {{"b", 1}, {"a", {1.5, 0.1, "x\n"}}, {"c", nullptr}};
  write_json(scratch / "t.json", json);
  EXPECT_EQ(parse_json_file(scratch / "t.json"), json);
  EXPECT_EQ(dump_json(json), R"({"b":1,"a":[1.5,0.1,"x\n"],"c":null})");
}

TEST(Json, NonFiniteNumbersAndBadTextAreWritable) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(dump_json(Json{{"x", -inf}, {"y", inf - inf}}), R"({"x":null,"y":null})");
  EXPECT_EQ(dump_json("a\xff"), "\"a\xEF\xBF\xBD\"");
}

TEST(Json, FaultsNameThePlace) {
  const auto fault = [](std::string_view text, const std::string& fragment) {
    expect_user_error([&] { parse_json(text, "t.json"); }, {fragment});
  };
  fault("", "t.json:1:1: expected JSON, found the end");
  fault("{\n  \"a\": 1,\n  b\n}", "t.json:3:3: expected JSON, found 'b");
  fault("[1, 2", "t.json:1:6");
  fault("{\"a\":1}x", "t.json:1:8");
  fault(std::string_view("\0\x01", 2), "\\x00");
  fault("[1e999]", "t.json: a number is too large");
  fault("\"\xff\"", "\\xff");
  fault(std::string(99, '['), "found the end");
  fault(std::string(200'000, '['), "t.json: brackets are nested more than 100 deep");
  fault(R"({"a]\"]": )" + std::string(100, '{'), "more than 100 deep");
}

TEST(Json, BracketsInTextDoNotCount) {
  const std::string text = "\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"";
  EXPECT_EQ(parse_json(text, "t.json").get<std::string>().size(), 2001u);
  EXPECT_EQ(parse_json("[[],[],[[[[]]]],{}]", "t.json").size(), 4u);
}

TEST(Json, AWholeNumberIsNeverCutToFit) {
  const Json json = parse_json(R"({"n": 2.55556e+41, "half": 1.5, "minus": -1, "yes": true,
                                   "big": 4294967296, "shape": [2, -3], "odd": [2, 1e30]})",
                               "t.json");
  for (const char* member : {"n", "half", "yes", "shape"}) {
    expect_user_error([&] { json_member<int64_t>(json, member, "t.json"); },
                      {"t.json", "wrong type"});
  }
  expect_user_error([&] { json_member<size_t>(json, "minus", "t.json"); }, {"-1"});
  expect_user_error([&] { json_member<int>(json, "big", "t.json"); }, {"4294967296"});
  expect_user_error([&] { json_member<std::vector<int64_t>>(json, "odd", "t.json"); }, {"1e+30"});
  EXPECT_EQ(json_member<int64_t>(json, "big", "t.json"), 4294967296);
  EXPECT_EQ(json_member<std::vector<int64_t>>(json, "shape", "t.json"),
            (std::vector<int64_t>{2, -3}));
}

TEST(Json, MembersAreChecked) {
  const Json json = {{"n", 3}, {"s", "x"}};
  EXPECT_EQ(json_member<int>(json, "n", "t.json"), 3);
  expect_user_error([&] { json_member<int>(json, "m", "t.json"); }, {"t.json", "'m'"});
  expect_user_error([&] { json_member<int>(json, "s", "t.json"); }, {"'s'", "\"x\""});
  expect_user_error([&] { json_member<int>(Json(3), "s", "t.json"); }, {"'s'"});
}

}  // namespace
}  // namespace agora
