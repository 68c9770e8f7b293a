#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "cli/program.h"

namespace agora::cli::kind_completion {
namespace {

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string either(const std::vector<std::string>& patterns) {
  return fmt::format("{}", fmt::join(patterns, "|"));
}

// One branch: what completes after a word that matches one of the patterns.
std::string branch(const std::vector<std::string>& patterns, const Offer& offer) {
  return fmt::format("        {}) values='{}' files='{}' ;;\n", either(patterns),
                     joined(offer.words), offer.files ? "yes" : "");
}

// The options of a verb and what completes them; after a flag or an argument comes an argument.
std::string verb_case(const Verb& verb) {
  const Parser parser(verb);
  std::vector<std::string> options, no_value{"[!-]*", "--help"};
  Offer argument;
  std::string branches;
  options.emplace_back("--help");
  for (const Option& option : parser.app.all()) {
    if (option.positional()) {
      argument = option.offer();
      continue;
    }
    if (option.is_hidden()) continue;
    options.push_back(option.shown());
    if (option.kind() == Option::Kind::kFlag) no_value.push_back(option.shown());
    if (!option.offer().words.empty()) branches += branch({option.shown()}, option.offer());
  }
  branches += branch(no_value, argument);
  return fmt::format("    '{}')\n      options='{}'\n      case $before in\n{}      esac ;;\n",
                     verb.name, joined(options), branches);
}

constexpr const char* kStart = R"(_agora() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local verb=${COMP_WORDS[1]} second=${COMP_WORDS[2]} options='' values='' files=yes
  if [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ $current == = ]]; then current=''; fi
)";
constexpr const char* kEnd = R"(  if [[ $current == -* ]]; then values=$options files=''; fi
  COMPREPLY=($(compgen -W "$values" -- "$current"))
  if [[ $files ]]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _agora agora
)";

// A bash function that knows every verb, its options and what they can be set to; files complete
// where those may be.
void print_bash() {
  std::vector<std::string> firsts;
  std::map<std::string, std::vector<std::string>> seconds;
  std::string cases;
  for (const Verb& verb : verbs()) {
    const size_t space = verb.name.find(' ');
    const std::string first = verb.name.substr(0, space);
    if (space != std::string::npos) seconds[first].push_back(verb.name.substr(space + 1));
    if (firsts.empty() || firsts.back() != first) firsts.push_back(first);
    cases += verb_case(verb);
  }
  std::string groups;
  for (const auto& [first, names] : seconds) {
    groups += fmt::format("      {}) values='{}' ;;\n", first, joined(names));
  }
  fmt::print("{}", kStart);
  fmt::print("  if ((COMP_CWORD == 1)); then values='{}'; files=''; fi\n", joined(firsts));
  fmt::print("  if ((COMP_CWORD == 2)); then\n    case $verb in\n{}    esac\n", groups);
  fmt::print("    if [[ $values ]]; then files=''; fi\n  fi\n");
  for (const auto& [first, names] : seconds) {
    fmt::print("  if [[ $verb == {} ]]; then verb=\"$verb $second\"; fi\n", first);
  }
  fmt::print("  if ((COMP_CWORD > 1)) && [[ ! $values ]]; then case $verb in\n{}  esac; fi\n{}",
             cases, kEnd);
}

}  // namespace

Verb entry_completion() {
  return {.name = "completion",
          .summary = "A completion script for bash",
          .example = "agora completion bash > agora-completion.bash",
          .declare = [](OptionList& app) {
            auto shell = std::make_shared<std::string>();
            app.add("shell", *shell, "bash").required().check(one_of({"bash"}));
            return [shell](const Common&) { print_bash(); };
          }};
}

}  // namespace agora::cli::kind_completion
