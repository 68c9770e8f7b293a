#include "base/decimal.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/rng.h"

namespace agora {
namespace {

std::optional<double> plain(std::string text, char behind = '7') {
  const size_t size = text.size();
  text.append(kDecimalAhead, behind);
  double value = 0;
  if (!read_plain_decimal(text.data(), size, value)) return std::nullopt;
  return value;
}

// Nothing, or what from_chars makes of the whole text, to the bit; whether it is something.
bool agrees(const std::string& text) {
  const auto found = plain(text);
  if (!found) return false;
  double expected = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), expected);
  const bool whole = code == std::errc() && end == text.data() + text.size();
  EXPECT_TRUE(whole && std::bit_cast<uint64_t>(*found) == std::bit_cast<uint64_t>(expected))
      << text << " read as " << *found;
  return true;
}

std::string digits(Rng& rng, uint32_t count) {
  std::string text;
  for (uint32_t k = 0; k < count; ++k) text += static_cast<char>('0' + rng.below(10));
  return text;
}

TEST(Decimal, ReadsWhatNumbersLookLike) {
  for (const char* text : {"0",
                           "1",
                           "7",
                           "10",
                           "0.5",
                           "-0.25",
                           "0.0",
                           "-0",
                           "-0.000",
                           "3.14159",
                           "00.1",
                           "9007199254740993",
                           "9999999999999999999",
                           "0.9999999999999999999",
                           "0.0000000000000000001",
                           "18014398509481984.5",
                           "999999999999999999.9",
                           "0.1234567890123456789",
                           "1.234567890123456789",
                           "123456.7"}) {
    EXPECT_TRUE(agrees(text) || std::string_view(text).size() > 18) << text;
  }
}

TEST(Decimal, LeavesAllElse) {
  for (const char* text : {"",
                           "-",
                           ".",
                           "-.",
                           ".5",
                           "5.",
                           "+1",
                           "--1",
                           "1e5",
                           "1e-05",
                           "0x10",
                           " 1",
                           "1 ",
                           "1,5",
                           "nan",
                           "inf",
                           "1.2.3",
                           "0.12345678901234e6",
                           "0.1234567890123456/",
                           "0.:",
                           "0.1:2345678901234567",
                           "10000000000000000000",
                           "0.00000000000000000001",
                           "12345678901.123456789",
                           "1_000"}) {
    EXPECT_FALSE(plain(text).has_value()) << text;
  }
}

TEST(Decimal, WhatComesBehindDoesNotMatter) {
  for (const char behind : {'\0', ',', '9', '.', '\xff'}) {
    EXPECT_EQ(plain("0.125", behind), 0.125);
    EXPECT_EQ(plain("0.1234567890123456789", behind), 0.1234567890123456789);
    EXPECT_EQ(plain("12", behind), 12.0);
  }
}

TEST(Decimal, AgreesWithFromCharsOnAnyDigits) {
  Rng rng(3);
  int read = 0;
  for (int trial = 0; trial < 1'000'000; ++trial) {
    std::string text = rng.below(8) == 0 ? "-" : "";
    text += rng.below(2) == 0 ? "0" : digits(rng, 1 + rng.below(rng.below(4) == 0 ? 20 : 3));
    if (const uint32_t places = rng.below(21); places > 0) {
      const uint32_t zeros = rng.below(3) == 0 ? rng.below(places) : 0;
      text += '.' + std::string(zeros, '0') + digits(rng, places - zeros);
    }
    if (rng.below(16) == 0)
      text[rng.below(static_cast<uint32_t>(text.size()))] = "eE+-. /:,x"[rng.below(10)];
    read += agrees(text) ? 1 : 0;
  }
  EXPECT_GT(read, 700'000);
}

TEST(Decimal, ReadsAlmostEveryShortestText) {
  Rng rng(4);
  int read = 0, all = 0;
  for (int trial = 0; trial < 1'000'000; ++trial) {
    const double value = rng.uniform() * (trial % 3 == 0 ? 1000 : 1);
    std::array<char, 32> text{};
    const std::string written(text.data(), std::to_chars(text.begin(), text.end(), value).ptr);
    if (written.find('e') != std::string::npos) continue;
    ++all;
    read += agrees(written) ? 1 : 0;
  }
  EXPECT_GT(read, all - all / 100);
}

// Texts as close to the middle between two doubles as their digits allow.
TEST(Decimal, NeverRoundsTheWrongWay) {
  Rng rng(5);
  for (int trial = 0; trial < 500'000; ++trial) {
    const double value = rng.uniform() + trial % 2;
    const long double middle =
        (static_cast<long double>(value) + static_cast<long double>(std::nextafter(value, 2))) / 2;
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*Lf", trial % 2 == 0 ? 19 : 18, middle);
    agrees(text.data());
  }
}

}  // namespace
}  // namespace agora
