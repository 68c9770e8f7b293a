#include "base/limits.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "base/csv.h"
#include "base/json.h"
#include "base/toml.h"
#include "support/scratch.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

TEST(Limits, ZerosAreNoText) {
  const Scratch scratch;
  const fs::path zeros = scratch.put("zeros", "");
  fs::resize_file(zeros, size_t{1} << 40);  // takes no room on the disk
  for (const fs::path& file : {zeros, fs::path("/dev/zero"), fs::path("/dev/full")}) {
    expect_user_error([&] { parse_json_file(file); }, {file.string() + ":1:", "not a text file"});
    expect_user_error([&] { parse_toml_file(file); }, {file.string() + ":1:", "not a text file"});
    expect_user_error([&] { CsvReader{file}; }, {file.string() + ":1:", "\\x00"});
  }
  scratch.put("late", std::string_view("{}\n\n\0", 5));
  expect_user_error([&] { parse_json_file(scratch / "late"); }, {"late:3: this is not a text"});
}

TEST(Limits, LongTextIsRefused) {
  const Scratch scratch;
  scratch.put("long", std::string(1001, ' '));
  EXPECT_EQ(read_text(scratch / "long", 1001).size(), 1001u);
  expect_user_error([&] { read_text(scratch / "long", 1000); }, {"long", "longer than"});
  scratch.put("t.toml", "a = 1\n" + std::string(kLongestToml, ' '));
  expect_user_error([&] { parse_toml_file(scratch / "t.toml"); }, {"t.toml", "longer than 1 MiB"});
  EXPECT_EQ(read_text(scratch.put("empty", ""), 1000), "");
}

TEST(Limits, TextWithoutEndIsRefused) {
  const Scratch scratch;
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::signal(SIGPIPE, SIG_IGN);
  std::thread writer([&] {
    std::ofstream out(scratch / "pipe");
    const std::string blanks(size_t{1} << 16, ' ');
    while (out) out << blanks;
  });
  expect_user_error([&] { parse_toml_file(scratch / "pipe"); }, {"pipe", "longer than 1 MiB"});
  writer.join();
  std::signal(SIGPIPE, SIG_DFL);
}

TEST(Limits, DeepTomlIsRefused) {
  const auto fault = [](const std::string& text) {
    expect_user_error([&] { parse_toml(text, "t.toml"); }, {"t.toml", "more than 16 dots"});
  };
  std::string key = "a";
  for (int i = 0; i < 50'000; ++i) key += ".a . \"b\"";
  fault(key + " = 1\n");
  fault("[" + key + "]\n");
  fault("x = 1\ny = { z = 2, " + key + " = 3 }\n");
  fault("x = '''a'''\n" + key + " = 1\n");
  fault("x = \"\\\"\"\n" + key + " = 1\n");
}

TEST(Limits, DotsElsewhereDoNotCount) {
  const std::string dots(1000, '.');
  std::string text = "a = \"" + dots + "\"\nb = '" + dots + "'\nc = \"\"\"\n" + dots +
                     "\"\"\"\n# " + dots + "\ne.f.g = 1.5\nd = [";
  for (int i = 0; i < 100; ++i) text += "0.5, ";
  const Json read = parse_toml(text + "]\n", "t.toml");
  EXPECT_EQ(read["d"].size(), 100u);
  EXPECT_EQ(read["e"]["f"]["g"], 1.5);
}

TEST(Limits, ManyColumnsAreRefused) {
  const Scratch scratch;
  const auto header = [](size_t columns) {
    std::string text;
    for (size_t i = 0; i < columns; ++i) text += (i == 0 ? "c" : ",c") + std::to_string(i);
    return text + "\n";
  };
  scratch.put("most.csv", header(kMostColumns));
  EXPECT_EQ(CsvReader(scratch / "most.csv").columns().size(), kMostColumns);
  scratch.put("more.csv", header(100'000));
  expect_user_error([&] { CsvReader{scratch / "more.csv"}; },
                    {"more.csv:1: more than 16384 columns"});
  scratch.put("wide.csv", "a,b\n" + std::string(1'000'000, ','));
  expect_user_error([&] { read_csv_numbers(scratch / "wide.csv"); },
                    {"wide.csv:2: more than 16384 columns"});
}

}  // namespace
}  // namespace agora
