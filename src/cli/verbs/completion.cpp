#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "cli/numbers.h"
#include "cli/program.h"

namespace agora::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// A bash function that knows every verb and its options; files complete everywhere else.
void print_bash() {
  std::vector<std::string> firsts;
  std::map<std::string, std::vector<std::string>> seconds;
  std::string cases;
  for (const Verb& verb : verbs()) {
    const size_t space = verb.name.find(' ');
    const std::string first = verb.name.substr(0, space);
    if (space != std::string::npos) seconds[first].push_back(verb.name.substr(space + 1));
    if (firsts.empty() || firsts.back() != first) firsts.push_back(first);
    const Parser parser(verb);
    std::vector<std::string> options;
    for (const CLI::Option* option : parser.app.get_options()) {
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    }
    cases += fmt::format("    '{}') words='{}' ;;\n", verb.name, joined(options));
  }
  fmt::print(
      "_agora() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} first=${{COMP_WORDS[1]}} "
      "second=${{COMP_WORDS[2]}} words=''\n"
      "  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W '{}' -- \"$current\")); "
      "return\n  fi\n",
      joined(firsts));
  fmt::print("  if ((COMP_CWORD == 2)); then\n    case $first in\n");
  for (const auto& [first, names] : seconds) {
    fmt::print("      {}) COMPREPLY=($(compgen -W '{}' -- \"$current\")); return ;;\n", first,
               joined(names));
  }
  fmt::print(
      "    esac\n  fi\n  case $first in\n    {}) first=\"$first $second\" ;;\n  esac\n", [&] {
        std::vector<std::string> groups;
        for (const auto& [first, names] : seconds) groups.push_back(first);
        return groups.empty() ? std::string("''") : fmt::format("{}", fmt::join(groups, "|"));
      }());
  fmt::print("  case $first in\n{}  esac\n", cases);
  fmt::print(
      "  if [[ $current == -* ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  else COMPREPLY=($(compgen -f -- \"$current\")); fi\n}}\n"
      "complete -o filenames -F _agora agora\n");
}

}  // namespace

Verb entry_completion() {
  return {.name = "completion",
          .summary = "A completion script for bash",
          .example = "agora completion bash > agora-completion.bash",
          .declare = [](CLI::App& app) {
            auto shell = std::make_shared<std::string>();
            app.add_option("shell", *shell, "bash")->required()->check(one_of({"bash"}));
            return [shell](const Common&) { print_bash(); };
          }};
}

}  // namespace agora::cli
