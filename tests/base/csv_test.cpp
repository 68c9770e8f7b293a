#include "base/csv.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>

#include "base/rng.h"
#include "support/scratch.h"

namespace agora {
namespace {

using Rows = std::vector<std::vector<std::string>>;

class Csv : public ::testing::Test {
 protected:
  std::filesystem::path put(std::string_view bytes) const { return scratch_.put("t.csv", bytes); }
  Rows rows(std::string_view bytes) const {
    CsvReader reader(put(bytes));
    Rows all;
    while (reader.next()) {
      all.emplace_back();
      for (size_t i = 0; i < reader.columns().size(); ++i) all.back().emplace_back(reader.text(i));
    }
    return all;
  }
  void expect_fault(std::string_view bytes, const std::vector<std::string>& fragments) const {
    SCOPED_TRACE(bytes.substr(0, 80));
    expect_user_error([&] { read_csv_numbers(put(bytes)); }, fragments);
  }
  Scratch scratch_;
};

TEST_F(Csv, ReadsRfc4180) {
  EXPECT_EQ(rows("a,b\n1,2\n"), (Rows{{"1", "2"}}));
  EXPECT_EQ(rows("a,b\n1,2"), (Rows{{"1", "2"}}));
  EXPECT_EQ(rows("a,b\n1,"), (Rows{{"1", ""}}));
  EXPECT_EQ(rows("a,b\r\n1,2\r\n,\r\n"), (Rows{{"1", "2"}, {"", ""}}));
  EXPECT_EQ(rows("\xEF\xBB\xBF"
                 "a,b\n1,2\n"),
            (Rows{{"1", "2"}}));
  EXPECT_EQ(rows("a,b\n\n1,2\n\n\n"), (Rows{{"1", "2"}}));
  EXPECT_EQ(rows("a,b\n\"1,\n\"\"x\"\"\r\n\",\"\"\n"), (Rows{{"1,\n\"x\"\r\n", ""}}));
  EXPECT_EQ(rows("a\n\"\"\n"), (Rows{{""}}));
  EXPECT_EQ(rows("a\n\"\"\"\""), (Rows{{"\""}}));
  EXPECT_EQ(rows("a\n1\r"), (Rows{{"1"}}));
  EXPECT_EQ(rows("a,b\n"), Rows{});
  EXPECT_EQ(CsvReader(put(" a ,b\n")).columns(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(Csv, ReadsNumbers) {
  CsvReader reader(put("x,n\n 1.5 ,-7\n+2e3,+4\n1e-400,9223372036854775807\n5e-324,0\n"));
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  while (reader.next()) {
    numbers.push_back(reader.number(0));
    integers.push_back(reader.integer(1));
  }
  EXPECT_EQ(numbers, (std::vector<double>{1.5, 2000, 0, 5e-324}));
  EXPECT_EQ(integers, (std::vector<int64_t>{-7, 4, std::numeric_limits<int64_t>::max(), 0}));
}

TEST_F(Csv, NamesLineAndColumnOfEveryFault) {
  expect_fault("", {"t.csv", "empty", "header"});
  expect_fault("\n\n", {"empty"});
  expect_fault("a,b\n1,2\n3\n", {"t.csv:3:", "expected 2 cells", "found 1"});
  expect_fault("a,b\n1,2,3\n", {"t.csv:2:", "found 3"});
  expect_fault("a,b\n1,nan\n", {"t.csv:2:", "'b'", "finite number", "'nan'"});
  expect_fault("a,b\n1,-inf\n", {"'-inf'"});
  expect_fault("a,b\n1,1e999\n", {"finite number", "'1e999'"});
  expect_fault("a,b\n1,two\n", {"t.csv:2:", "column 'b'", "expected a number", "'two'"});
  expect_fault("a,b\n1,\n", {"found ''"});
  expect_fault("a,b\n1,0x10\n", {"'0x10'"});
  expect_fault("a,b\n1,1.5.2\n", {"'1.5.2'"});
  expect_fault("a,b\n1,+-2\n", {"'+-2'"});
  expect_fault("a,b\n\"1\n\n\",x\n", {"t.csv:2:", "column 'a'"});
  expect_user_error([&] { rows("a,b\n1,\"2\n\n\"\n3\n"); }, {"t.csv:5:", "found 1"});
  expect_fault("a,\"b\nc\"\n1,2\n3\n", {"t.csv:4:", "found 1"});
  expect_fault("a,a\n", {"t.csv:1:", "two columns", "'a'"});
  expect_fault("a,,b\n", {"column 2 has no name"});
  expect_fault("a\n\"1\n\n", {"t.csv:2:", "never closed"});
  expect_fault("a\n1\"2\n", {"t.csv:2:", "quote inside"});
  expect_fault("a\n\"1\"2\n", {"t.csv:2:", "after its closing quote"});
  expect_fault("a\n1\r2\n", {"t.csv:2:", "\\x0d"});
  expect_fault(std::string_view("a\n1\0\n", 5), {"t.csv:2:", "\\x00", "is this a CSV file"});
  expect_fault(std::string_view("\xff\xfe"
                                "a\0,\0",
                                6),
               {"t.csv:1:", "\\x00"});
  expect_fault("a\n\"\x01\"\n", {"\\x01"});
  expect_fault("a\n\xff\xfe\n", {"found '\\xff\\xfe'"});
  expect_user_error([&] { CsvReader(scratch_ / "absent.csv"); }, {"absent.csv"});
  expect_user_error([&] { CsvReader(scratch_.path()); }, {"folder"});
}

TEST_F(Csv, SemicolonsAndDecimalCommas) {
  const auto numbers = [&](std::string_view bytes) { return read_csv_numbers(put(bytes)).values; };
  EXPECT_EQ(numbers("a;b\n0,5;-1,25e2\n+3;\"0,125\"\n"),
            (std::vector<double>{0.5, -125, 3, 0.125}));
  EXPECT_EQ(numbers("\xEF\xBB\xBF"
                    "a;b\r\n0,5;1\r\n"),
            (std::vector<double>{0.5, 1}));
  EXPECT_EQ(numbers("a;b\n0.5;1\n"), (std::vector<double>{0.5, 1}));
  EXPECT_EQ(numbers("\n\na;\"b,c\"\n1;2\n"), (std::vector<double>{1, 2}));
  EXPECT_EQ(rows("name;value\n\"x;y\";1\na,b;2\n"), (Rows{{"x;y", "1"}, {"a,b", "2"}}));
  EXPECT_EQ(rows("\"a;b\",c\n1;2,3\n"), (Rows{{"1;2", "3"}}));  // a comma separates as ever
  expect_fault("a;b\n0,5;1\n0.5;1\n", {"t.csv:3", "'a'", "a decimal comma as before", "'0.5'"});
  expect_fault("a;b\n0.5;1\n1;0,5\n", {"t.csv:3", "'b'", "a decimal point as before"});
  expect_fault("a;b\n1.234,5;1\n", {"t.csv:2", "separators of thousands", "'1.234,5'"});
  expect_fault("a;b\n1,2,3;1\n", {"t.csv:2", "separators of thousands"});
  expect_fault("a;b\n1;2;3\n", {"t.csv:2", "expected 2 cells as in the header, found 3"});
  expect_fault("a,b\n0,5,0,7\n", {"t.csv:2", "found 4", "separate cells by semicolons"});
  expect_fault("a,b\n\"0,5\",1\n", {"t.csv:2", "a number with a decimal point", "'0,5'"});
  expect_fault("a\tb\n1\t2\n", {"t.csv:1", "separated by tabs"});
}

TEST_F(Csv, SuggestsColumns) {
  CsvReader reader(put("state,actoin,x\ns,a,1.5\n"));
  EXPECT_EQ(reader.require({"x", "state"}), (std::vector<size_t>{2, 0}));
  EXPECT_FALSE(reader.find("y"));
  expect_user_error(
      [&] {
        reader.require({"state", "action"});
      },
      {"t.csv:1:", "unknown column 'actoin'", "did you mean 'action'"});
  expect_user_error([&] { reader.require({"probability"}); },
                    {"expected a column 'probability'", "state,actoin,x"});
  expect_user_error([&] { reader.allow_only({"state", "action"}); }, {"'actoin'", "'action'"});
  ASSERT_TRUE(reader.next());
  expect_user_error([&] { reader.integer(2); }, {"t.csv:2:", "'x'", "whole number", "'1.5'"});
  expect_user_error([&] { throw reader.expected(0, "a state's name"); },
                    {"t.csv:2: column 'state': expected a state's name, found 's'"});
}

// Rows of all lengths cross every buffer boundary, and one row is larger than the buffer.
TEST_F(Csv, WhatIsWrittenReadsBack) {
  Rng rng(1);
  constexpr std::string_view kAlphabet = "ab,\"\n\r ";
  Rows all;
  std::vector<double> numbers;
  CsvWriter writer(scratch_ / "w.csv", {"text", "number", "a \"quoted\", name"});
  for (int row = 0; row < 60000; ++row) {
    std::string text(row == 777 ? 3'000'000 : rng.below(60), ' ');
    for (char& c : text) c = kAlphabet[rng.below(kAlphabet.size())];
    const double number = rng.normal() * std::pow(10, static_cast<int>(rng.below(600)) - 300);
    writer.row(text, number, row);
    all.push_back({text});
    numbers.push_back(number);
  }
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "w.csv"));
  writer.commit();
  CsvReader reader(scratch_ / "w.csv");
  EXPECT_EQ(reader.columns()[2], "a \"quoted\", name");
  for (size_t row = 0; row < all.size(); ++row) {
    ASSERT_TRUE(reader.next());
    ASSERT_EQ(reader.text(0), all[row][0]) << row;
    ASSERT_EQ(reader.number(1), numbers[row]) << row;
    ASSERT_EQ(reader.integer(2), static_cast<int64_t>(row));
  }
  EXPECT_FALSE(reader.next());
}

// Whatever ends lines, and wherever a row needs a closer look.
TEST_F(Csv, CountsLinesOfEveryKind) {
  for (const char* end : {"\n", "\r\n"}) {
    for (const char* row : {"1,2", "\"1\",2", "1,2,3", "+1,2"}) {
      CsvReader reader(put(fmt::format("a,b{0}1,2{0}{0}\"1\",2{0}3,4{0}{1}{0}", end, row)));
      for (const int64_t line : {2, 4, 5}) {
        ASSERT_TRUE(reader.next());
        EXPECT_EQ(reader.line(), line);
      }
      const auto last = [&] {
        reader.next();
        EXPECT_EQ(reader.line(), 6);
        EXPECT_EQ(reader.number(0), 1);
      };
      if (row == std::string_view("1,2,3")) {
        expect_user_error(last, {"t.csv:6:", "found 3"});
      } else {
        last();
      }
    }
  }
}

// Cells are looked through many bytes at a time.
TEST_F(Csv, CellsEndWhereverTheyEnd) {
  for (size_t before = 0; before < 70; ++before) {
    for (size_t size = 0; size < 70; ++size) {
      const std::string first(before, '\t'), cell(size, '\xff');
      const auto path = put("a,b,c\n" + first + "," + cell + ",\x80\n");
      CsvReader reader(path);
      ASSERT_TRUE(reader.next());
      EXPECT_EQ(reader.text(0), first);
      EXPECT_EQ(reader.text(1), cell);
      EXPECT_EQ(reader.text(2), "\x80");
      EXPECT_FALSE(reader.next());
    }
    for (const char byte : {'\0', '\x1f', '\x7f', '"'}) {
      expect_fault("a\n" + std::string(before + 1, 'x') + byte + "x\n", {"t.csv:2:"});
    }
  }
}

TEST_F(Csv, EndlessQuoteIsRefused) {
  expect_fault("a\n\"" + std::string(20'000'000, 'x'), {"t.csv:2:", "longer than 16 MiB"});
}

TEST_F(Csv, GarbageNeverCrashes) {
  Rng rng(2);
  constexpr std::string_view kAlphabet("1.,\"\n\r\0x", 8);
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string bytes(rng.below(40), ' ');
    const bool any = trial % 2 == 0;
    for (char& c : bytes) c = any ? static_cast<char>(rng.bits()) : kAlphabet[rng.below(8)];
    const auto path = put(bytes);
    try {
      read_csv_numbers(path);
    } catch (const UserError& error) {
      ++refused;
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    }
  }
  EXPECT_GT(refused, 2000);
}

// The growth of a child's peak memory while it reads `rows` rows of 4 numbers, over their size.
double memory_ratio(const Scratch& scratch, size_t rows) {
  const auto path = scratch / "big.csv";
  {
    CsvWriter writer(path, {"a", "b", "c", "d"});
    for (size_t row = 0; row < rows; ++row) writer.row(0.25, 1.5, static_cast<int>(row), 0.125);
    writer.commit();
  }
  int pipe_ends[2];
  CHECK(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto peak_kib = [] {
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      return usage.ru_maxrss;
    };
    const long before = peak_kib();
    const CsvNumbers table = read_csv_numbers(path);
    const double ratio = 1024.0 * static_cast<double>(peak_kib() - before) /
                         (static_cast<double>(table.values.size()) * sizeof(double));
    const bool right = table.rows() == rows && table.values[4 * rows - 2] == double(rows - 1);
    const double answer = right ? ratio : 1e9;
    _exit(write(pipe_ends[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
  }
  double ratio = 1e9;
  close(pipe_ends[1]);
  EXPECT_EQ(read(pipe_ends[0], &ratio, sizeof ratio), static_cast<ssize_t>(sizeof ratio));
  close(pipe_ends[0]);
  waitpid(child, nullptr, 0);
  return ratio;
}

TEST(CsvMemory, StaysBelowTwiceTheNumbers) { EXPECT_LT(memory_ratio(Scratch(), 500'000), 2.0); }
TEST(SlowCsvMemory, TenMillionRows) { EXPECT_LT(memory_ratio(Scratch(), 10'000'000), 2.0); }

TEST(CsvRow, WritesNumbersAsTheyReadBack) {
  CsvRow row;
  for (const double value : {0.0, -0.0, 1.0, -3.0, 0.5, 999999.0, 1e6, 1e16, 1e-7, 0.1 + 0.2}) {
    row.add(value);
  }
  EXPECT_EQ(row.end(), "0,-0,1,-3,0.5,999999,1000000,1e+16,1e-07,0.30000000000000004\n");
  EXPECT_EQ(row.add("").end(), row.text());
  EXPECT_TRUE(row.text().ends_with("\n\"\"\n"));  // a row of one empty cell is no blank line
}

TEST(CsvRow, WritesManyNumbersAsOneByOne) {
  Rng rng(6);
  for (size_t count = 0; count < 70; ++count) {
    std::vector<double> values(count);
    for (double& value : values) value = rng.below(2) == 0 ? rng.below(2) : -1e-5 * rng.normal();
    CsvRow together, apart;
    together.add("label").add(values);
    apart.add("label");
    for (const double value : values) apart.add(value);
    EXPECT_EQ(together.end(), apart.end());
  }
}

}  // namespace
}  // namespace agora
