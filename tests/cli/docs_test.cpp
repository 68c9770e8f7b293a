// Every command that README.md and docs/ print works as printed, where examples/ is.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "support/program.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

struct Command {
  int line;
  std::string text;
  bool left;  // its comment says why
};

struct Document {
  std::vector<Command> commands;
  std::vector<int> elsewhere;  // lines of commands in no fence `sh`
};

Document read(std::istream& text) {
  const std::regex fence("^ *```(.*)$"), command("^ *(\\$ *)?(agora|mpirun|cmake|cpack|\\./).*");
  const std::regex reason("#.*\\b(installs|minutes|hours|needs MPI|needs a GPU)\\b");
  Document found;
  bool inside = false;
  std::string language, line;
  std::smatch parts;
  for (int number = 1; std::getline(text, line); ++number) {
    if (std::regex_match(line, parts, fence)) {
      inside = !inside;
      language = parts[1];
    } else if (inside && language == "sh") {
      if (line.empty() || line[0] == '#') continue;
      found.commands.push_back({number, line, std::regex_search(line, reason)});
    } else if ((inside ? language.empty() : line.starts_with("    ")) &&
               std::regex_match(line, command)) {
      found.elsewhere.push_back(number);
    }
  }
  return found;
}

std::vector<std::string> documents() {
  std::vector<std::string> names{"README.md"};
  for (const auto& entry : fs::directory_iterator(fs::path(AGORA_SOURCE) / "docs")) {
    if (entry.path().extension() == ".md")
      names.push_back("docs/" + entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Docs : public ::testing::TestWithParam<std::string> {};

TEST_P(Docs, CommandsRunAsPrinted) {
  std::ifstream file(fs::path(AGORA_SOURCE) / GetParam());
  const Document document = read(file);
  for (const int line : document.elsewhere) {
    ADD_FAILURE() << GetParam() << ":" << line << ": a command outside a fence `sh` is not run";
  }
  const Scratch scratch;
  fs::copy(fs::path(AGORA_SOURCE) / "examples", scratch / "examples", fs::copy_options::recursive);
  int ran = 0;
  for (const Command& command : document.commands) {
    if (command.left) continue;
    const testing::Result result = testing::shell(command.text, scratch.path());
    EXPECT_EQ(result.status, 0) << GetParam() << ":" << command.line << ": " << command.text << "\n"
                                << result.err;
    ++ran;
  }
  const auto left = static_cast<int>(document.commands.size()) - ran;
  std::cout << GetParam() << ": " << ran << " commands ran, " << left << " left\n";
  RecordProperty("ran", ran);
  RecordProperty("left", left);
  if (GetParam() == "README.md") {
    EXPECT_GT(ran, 5);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Docs, ::testing::ValuesIn(documents()), [](const auto& each) {
  return std::regex_replace(each.param, std::regex("[^A-Za-z]"), "_");
});

TEST(DocsReader, FindsCommandsThatAreNotRun) {
  std::istringstream text(
      "```sh\nagora list\nagora train # minutes\n# words\n```\n```\nagora plan\n...\n```\n"
      "    ./run\n`agora x`\n```cpp\nagora::f();\n```\n");
  const Document document = read(text);
  ASSERT_EQ(document.commands.size(), 2u);
  EXPECT_EQ(document.commands[0].text, "agora list");
  EXPECT_FALSE(document.commands[0].left);
  EXPECT_TRUE(document.commands[1].left);
  EXPECT_EQ(document.elsewhere, (std::vector<int>{7, 10}));
}

}  // namespace
}  // namespace agora
