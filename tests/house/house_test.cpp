// The rules of the house: the direction of includes, the length of files, and what no file holds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

struct Source {
  std::string path;  // from the root, as git knows it
  std::string text;

  bool under(const std::string& folder) const { return path.starts_with(folder + "/"); }
  bool has_extension(std::initializer_list<std::string_view> extensions) const {
    const std::string extension = fs::path(path).extension().string();
    return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
  }
  bool is_code() const { return has_extension({".h", ".cpp", ".cu", ".cuh"}); }
};

// Every tracked text file; empty if this is no git checkout.
const std::vector<Source>& tracked_files() {
  static const std::vector<Source> files = [] {
    std::vector<Source> all;
    const std::string root = AGORA_SOURCE;
    const std::string command = "git -C '" + root + "' ls-files 2>/dev/null";
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string names;
    std::array<char, 4096> buffer;
    while (const size_t count = fread(buffer.data(), 1, buffer.size(), pipe.get())) {
      names.append(buffer.data(), count);
    }
    std::istringstream lines(names);
    for (std::string path; std::getline(lines, path);) {
      const fs::path file = fs::path(root) / path;
      if (!fs::is_regular_file(file)) continue;  // a link, or removed but not yet committed
      std::string text = read_file(file);
      if (text.find('\0') == std::string::npos) all.push_back({path, std::move(text)});
    }
    return all;
  }();
  return files;
}

class House : public ::testing::Test {
 protected:
  void SetUp() override {
    if (tracked_files().empty()) GTEST_SKIP() << "not in a git checkout";
  }
};

struct Include {
  std::string name;
  bool quoted;  // "..." rather than <...>
};

std::vector<Include> includes_of(const std::string& text) {
  static const std::regex pattern(R"rx(^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">])rx");
  std::vector<Include> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.find("include") != std::string::npos && std::regex_search(line, match, pattern)) {
      found.push_back({match[2], match[1] == "\""});
    }
  }
  return found;
}

std::string first_part(const std::string& path) { return path.substr(0, path.find('/')); }

// Rooms by height: a room includes those below it; rooms of one height do not see each other.
const std::map<std::string, int> kHeights{
    {"base", 0},   {"compute", 1}, {"nn", 2},        {"planning", 3},    {"auctions", 3},
    {"agents", 3}, {"report", 4},  {"reproduce", 5}, {"experiments", 6}, {"cli", 7}};

bool may_include(const std::string& from, const std::string& to) {
  if (from == to) return true;
  if (from == "agents" && to == "planning") return true;  // the models
  return kHeights.at(to) < kHeights.at(from);
}

TEST(HouseRules, DirectionOfIncludes) {
  EXPECT_TRUE(may_include("nn", "compute"));
  EXPECT_TRUE(may_include("cli", "experiments"));
  EXPECT_TRUE(may_include("agents", "planning"));
  EXPECT_FALSE(may_include("planning", "agents"));
  EXPECT_FALSE(may_include("auctions", "planning"));
  EXPECT_FALSE(may_include("base", "compute"));
  EXPECT_FALSE(may_include("auctions", "report"));
  const auto includes = includes_of("#include \"a/b.h\"\n  # include <c>\n// #include \"d\"\n");
  ASSERT_EQ(includes.size(), 2u);
  EXPECT_EQ(includes[0].name, "a/b.h");
  EXPECT_FALSE(includes[1].quoted);
}

TEST_F(House, IncludesGoOneWay) {
  for (const Source& source : tracked_files()) {
    if (!source.is_code()) continue;
    std::string room;
    if (source.under("src")) room = first_part(source.path.substr(4));
    if (source.under("experiments")) room = "experiments";
    if (room.empty()) continue;
    ASSERT_TRUE(kHeights.contains(room)) << source.path << " is in no known room";
    for (const Include& include : includes_of(source.text)) {
      const std::string target = first_part(include.name);
      if (!include.quoted || !kHeights.contains(target)) continue;
      EXPECT_TRUE(may_include(room, target)) << source.path << " includes " << include.name;
    }
  }
}

// No learner grades itself, whichever header an audit sees it through.
TEST_F(House, AuditsDoNotSeeTrainers) {
  std::map<std::string, const Source*> sources;
  for (const Source& source : tracked_files()) sources[source.path] = &source;
  std::set<std::string> seen;
  std::vector<std::string> open;
  for (const Source& source : tracked_files()) {
    if (source.under("src/auctions/audit")) open.push_back(source.path);
  }
  ASSERT_FALSE(open.empty());
  while (!open.empty()) {
    const std::string path = open.back();
    open.pop_back();
    if (!sources.contains(path) || !seen.insert(path).second) continue;
    for (const Include& include : includes_of(sources[path]->text)) {
      EXPECT_FALSE(include.name.starts_with("auctions/training"))
          << path << " includes " << include.name;
      if (include.quoted) open.push_back("src/" + include.name);
    }
  }
  EXPECT_TRUE(seen.contains("src/auctions/mechanism.h"));
}

// Agents and planners learn in stages too.
TEST_F(House, StagesKnowLearnersOnly) {
  for (const Source& source : tracked_files()) {
    if (!source.path.starts_with("src/reproduce/stages.")) continue;
    EXPECT_EQ(source.text.find("auction"), std::string::npos) << source.path;
  }
}

TEST_F(House, InstalledHeadersNeedOnlyTheStandardLibrary) {
  for (const Source& source : tracked_files()) {
    if (!source.under("include/agora") || !source.is_code()) continue;
    for (const Include& include : includes_of(source.text)) {
      const bool own = !include.quoted && include.name.starts_with("agora/");
      const bool standard =
          !include.quoted && include.name.find_first_of("./") == std::string::npos;
      EXPECT_TRUE(own || standard) << source.path << " includes " << include.name;
    }
  }
}

TEST_F(House, CudaStaysInItsFolders) {
  static const std::regex cuda(R"(^(cuda|cublas|cudnn|nccl|cub/|thrust/|cooperative_groups))");
  for (const Source& source : tracked_files()) {
    if (!source.under("src") && !source.under("include") && !source.under("experiments")) continue;
    const bool folder = source.path.find("/cuda/") != std::string::npos;
    const bool text_of_kernels =
        source.under("src/compute/kernel");  // compiled when a program runs
    EXPECT_TRUE(folder || text_of_kernels || !source.has_extension({".cu", ".cuh"})) << source.path;
    if (folder || !source.is_code()) continue;
    for (const Include& include : includes_of(source.text)) {
      EXPECT_FALSE(!include.quoted && std::regex_search(include.name, cuda))
          << source.path << " includes " << include.name;
    }
  }
}

TEST_F(House, NoFileIsTooLong) {
  for (const Source& source : tracked_files()) {
    if (!source.is_code() && !source.has_extension({".py", ".sh", ".cmake"})) continue;
    EXPECT_LE(std::count(source.text.begin(), source.text.end(), '\n'), 600) << source.path;
  }
}

TEST_F(House, NothingIsLeftForLater) {
  const std::regex later(std::string(R"(\b()") + "TO" + "DO|FIX" + "ME|X" + R"(XX)\b)");
  for (const Source& source : tracked_files()) {
    EXPECT_FALSE(std::regex_search(source.text, later)) << source.path;
  }
}

struct Hunk {
  std::string file, counts;   // "-12,5 +12,6", which git holds it to
  std::string before, after;  // whole lines
};

std::vector<Hunk> hunks_of(const std::string& patch) {
  std::vector<Hunk> hunks;
  std::string file;
  std::istringstream lines(patch);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("--- a/")) file = line.substr(6);
    if (line.starts_with("@@ ")) hunks.push_back({file, line, "\n", "\n"});
    if (hunks.empty() || line.starts_with("@@ ")) continue;
    if (line[0] != '+') hunks.back().before += line.substr(1) + "\n";
    if (line[0] != '-') hunks.back().after += line.substr(1) + "\n";
  }
  return hunks;
}

// A program that uses the library has no command line of ours.
TEST_F(House, ErrorsOfTheLibraryNameNoOption) {
  static const std::regex option(R"(--[a-z])");
  for (const Source& source : tracked_files()) {
    if (!source.is_code() || !source.under("src") || source.under("src/cli") ||
        source.under("src/reproduce")) {
      continue;
    }
    for (size_t at = 0; (at = source.text.find("throw user_error(", at)) != std::string::npos;
         ++at) {
      const std::string statement = source.text.substr(at, source.text.find(");\n", at) - at);
      EXPECT_FALSE(std::regex_search(statement, option)) << source.path << ": " << statement;
    }
  }
}

// scripts/mutants is of use only as long as its patches apply, and in one place only.
TEST(Mutants, StillApply) {
  const fs::path root = AGORA_SOURCE;
  std::map<std::string, int> rooms;
  for (const auto& entry : fs::recursive_directory_iterator(root / "tests/mutants")) {
    if (!entry.is_regular_file()) continue;
    const fs::path path = entry.path();
    const std::string patch = read_file(path);
    EXPECT_EQ(path.extension(), ".patch") << path;
    EXPECT_FALSE(patch.starts_with("--- ")) << path << " does not say what is wrong";
    const std::vector<Hunk> hunks = hunks_of(patch);
    EXPECT_FALSE(hunks.empty()) << path;
    for (const Hunk& hunk : hunks) {
      EXPECT_NE(hunk.before, hunk.after) << path;
      const auto lines = [](const std::string& text) {
        return std::count(text.begin(), text.end(), '\n') - 1;
      };
      const std::string counts =
          fmt::format(",{} \\+[0-9]+,{} @@", lines(hunk.before), lines(hunk.after));
      EXPECT_TRUE(std::regex_search(hunk.counts, std::regex(counts)))
          << path << ": git would not apply " << hunk.counts;
      const std::string source = "\n" + read_file(root / hunk.file);
      const size_t at = source.find(hunk.before);
      EXPECT_NE(at, std::string::npos)
          << path << " does not apply any more: make the same mistake in what is there now";
      EXPECT_EQ(source.find(hunk.before, at + 1), std::string::npos)
          << path << " applies in several places: give it more context";
    }
    ++rooms[path.parent_path().filename()];
  }
  for (const auto& [room, height] : kHeights) {
    const fs::path folder = room == "experiments" ? root / room : root / "src" / room;
    EXPECT_TRUE(rooms[room] > 0 || !fs::is_directory(folder)) << room;
  }
}

// Whether `text` names the place itself, not a folder of that name inside another.
bool names(const std::string& text, const std::string& place) {
  for (size_t at = 0; (at = text.find(place, at)) != std::string::npos; ++at) {
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool inside = std::isalnum(static_cast<unsigned char>(before)) != 0 ||
                        std::string_view("._-}/*").find(before) != std::string_view::npos;
    if (place[0] != '/' || !inside) return true;
  }
  return false;
}

// Written in two parts, so that this file passes too.
TEST_F(House, NoFileKnowsAMachine) {
  const std::vector<std::string> places{
      std::string("/tmp") + "/wt", std::string("/wo") + "rk/",   std::string("/ro") + "ot/",
      std::string("/ho") + "me/",  std::string("pypi") + ".org", std::string("pythonhosted") + "."};
  for (const Source& source : tracked_files()) {
    for (const std::string& place : places) {
      EXPECT_FALSE(names(source.text, place)) << source.path << " names " << place;
    }
  }
}

}  // namespace
}  // namespace agora
