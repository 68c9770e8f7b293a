#include "base/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/rng.h"
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

// nlohmann's reader says what is JSON, and what it says.
void expect_as_others_read(const std::string& text) {
  const auto theirs = nlohmann::ordered_json::parse(text, nullptr, false);
  if (theirs.is_discarded()) {
    EXPECT_THROW(parse_json(text, "t"), UserError) << text;
    return;
  }
  EXPECT_EQ(dump_json(parse_json(text, "t")), theirs.dump()) << text;
  EXPECT_EQ(dump_json(parse_json(text, "t"), 2), theirs.dump(2)) << text;
}

TEST(Json, ReadsAndWritesWhatOthersDo) {
  for (const char* text : {"0",
                           "-0",
                           "-0.0",
                           "01",
                           "1.",
                           ".5",
                           "1e5",
                           "1E+05",
                           "1e",
                           "-",
                           "+1",
                           "1e-400",
                           "0x1",
                           "18446744073709551615",
                           "18446744073709551616",
                           "-9223372036854775808",
                           "-9223372036854775809",
                           "123456789012345680000",
                           "1e15",
                           "1e16",
                           "1e-4",
                           "1e-5",
                           "true",
                           "tru",
                           "nul",
                           "[]",
                           "[ ]",
                           "[,]",
                           "[1,]",
                           "{}",
                           "{ }",
                           "{\"a\":}",
                           "{\"a\" 1}",
                           "{a:1}",
                           "[1 2]",
                           "\"\\u00e9\\n\\/\"",
                           "\"\\ud83d\\ude00\"",
                           "\"\\ud83d\"",
                           "\"\\ude00\"",
                           "\"\\ud83dx\"",
                           "\"\\u12g4\"",
                           "\"\\x\"",
                           "\"\t\"",
                           "\"\x7f\"",
                           "\"\xc3\xa9\"",
                           "\"\xc3\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "\"\\u0001\"",
                           "\xef\xbb\xbf[1]",
                           " \r\n\t1 ",
                           "1 1",
                           "\"a",
                           "\"a\\",
                           "{\"a\":{\"b\":[1,{\"c\":null}]},\"d\":\"\"}",
                           "nan",
                           "Infinity",
                           "/**/1"}) {
    expect_as_others_read(text);
  }
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(AGORA_SOURCE) /
                                                              "tests/fuzz/corpus/json")) {
    SCOPED_TRACE(file.path());
    const std::string text = read_file(file.path());
    expect_as_others_read(text);
  }
}

// Shortest digits: every bit pattern of a number reads back, in no more digits than others need.
TEST(Json, NumbersReadBackExactly) {
  for (uint32_t k = 0; k < 20'000; ++k) {
    Rng rng(1, 0, k);
    const auto value = std::bit_cast<double>(rng.bits64());
    if (!std::isfinite(value)) continue;
    const std::string text = dump_json(value);
    EXPECT_EQ(parse_json(text, "t").get<double>(), value) << text;
    EXPECT_LE(text.size(), nlohmann::json(value).dump().size()) << text;
  }
}

TEST(Json, AMemberIsNamedOnce) {
  expect_user_error([] { parse_json("{\"a\": 1,\n \"a\": 2}", "t.json"); },
                    {"t.json:2:2: a second member 'a'"});
}

TEST(Json, PathsLeadInside) {
  Json json = {{"a", {{"b/c", {1, 2, 3}}}}};
  EXPECT_EQ(json.at(JsonPath("/a") / "b/c" / 2), Json(3));
  EXPECT_EQ(json.find(JsonPath("/a/b")), nullptr);
  EXPECT_EQ(json.find(JsonPath("/a") / "b/c" / 3), nullptr);
  json.at(JsonPath("/a") / "b/c" / 0) = "x";
  EXPECT_EQ(dump_json(json), R"({"a":{"b/c":["x",2,3]}})");
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
