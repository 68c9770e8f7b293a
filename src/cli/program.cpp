#include "cli/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <stdexcept>

#include "base/error.h"
#include "base/features.h"
#include "base/progress.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "cli/config.h"
#include "compute/device.h"

namespace agora::cli {
namespace {

const std::map<std::string, std::string> kGroups{
    {"plan", "Markov decision processes: partition functions, values, policies"},
    {"auction", "Mechanisms: exact ones and learned ones, audited and run on bids"},
    {"agent", "Policies that work on unseen levels"},
};

std::string group_of(const Verb& verb) {
  const size_t space = verb.name.find(' ');
  return space == std::string::npos ? "" : verb.name.substr(0, space);
}

// The verbs of one group, or of all: two columns.
void print_overview(const std::string& only_group) {
  if (only_group.empty()) {
    fmt::print("agora {} learns how agents should act and how markets should be run.\n\n",
               AGORA_VERSION);
  }
  fmt::print("Usage: agora {} ...\n", only_group.empty() ? "VERB" : only_group + " VERB");
  std::string group = "?";
  std::vector<const Verb*> in_order;
  for (const auto& [name, words] : kGroups) {
    for (const Verb& verb : verbs()) {
      if (group_of(verb) == name) in_order.push_back(&verb);
    }
  }
  for (const Verb& verb : verbs()) {
    if (group_of(verb).empty()) in_order.push_back(&verb);
  }
  for (const Verb* verb : in_order) {
    if (!only_group.empty() && group_of(*verb) != only_group) continue;
    if (group_of(*verb) != group) {
      group = group_of(*verb);
      fmt::print("\n{}\n", group.empty() ? "The program" : kGroups.at(group));
    }
    fmt::print("  {:<18} {}\n", verb->name, verb->summary);
  }
  fmt::print("\n`agora VERB --help` tells a verb's options and gives an example.\n");
}

bool asks_for_help(const std::string& word) {
  return word == "--help" || word == "-h" || word == "help";
}

// The verb that the first one or two words name; those words are taken off.
const Verb& find_verb(std::vector<std::string>& words) {
  std::vector<std::string> firsts;
  std::vector<std::string> seconds;
  bool is_group = false;
  for (const Verb& verb : verbs()) {
    const std::string group = group_of(verb);
    if (group.empty()) {
      firsts.push_back(verb.name);
      if (verb.name == words[0]) {
        words.erase(words.begin());
        return verb;
      }
      continue;
    }
    firsts.push_back(group);
    if (group != words[0]) continue;
    is_group = true;
    seconds.push_back(verb.name.substr(group.size() + 1));
    if (words.size() > 1 && seconds.back() == words[1]) {
      words.erase(words.begin(), words.begin() + 2);
      return verb;
    }
  }
  if (!is_group)
    throw user_error("unknown verb '{}'{}", printable(words[0]), suggestion(words[0], firsts));
  throw user_error("unknown verb '{} {}'{}", words[0], printable(words[1]),
                   suggestion(words[1], seconds));
}

// A file opened while a standard stream is closed would take its number, and its text.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // Output that was asked for and goes nowhere is an error; messages are not.
    const int flags = stream == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", flags) != stream) return;
  }
}

// The status after standard output (or error) failed; who closes a pipe has read enough.
int unwritable(int code) {
  if (code == EPIPE) return 128 + SIGPIPE;
  tell("agora: cannot write to standard output: {}\n", std::strerror(code));
  return 2;
}

void run_verb(const Verb& verb, std::vector<std::string> words, const std::string& command) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--config" && i + 1 < words.size()) {
      words = with_config(verb, words[i + 1], words);
      break;
    }
    if (words[i].starts_with("--config=")) {
      words = with_config(verb, words[i].substr(9), words);
      break;
    }
  }
  Parser parser(verb);
  if (!parser.app.parse(words)) {
    fmt::print("{}", parser.app.help());
    return;
  }
  Common& common = parser.common;
  const compute::Device device = compute::device_named(common.device);
  if (device != compute::Device::kCpu && !verb.takes_device) {
    throw user_error("{} takes no --device {}: it has nothing to run there", verb.name,
                     common.device);
  }
  compute::set_default_device(device);
  if (common.threads == 0) common.threads = hardware_threads();
  set_default_threads(common.threads);
  common.command = command;
  common.settings = resolved_settings(verb, parser.app);
  parser.run(common);
}

}  // namespace

void print_json(const Json& result) { fmt::print("{}\n", dump_json(result)); }

void run_words(std::vector<std::string> words) {
  std::string command = "agora";
  for (const std::string& word : words) command += " " + shell_quoted(word);
  if (words.empty()) return print_overview("");
  if (asks_for_help(words[0])) {  // "help auction" is "auction --help"
    words.erase(words.begin());
    if (words.empty() || words[0].starts_with("-")) return print_overview("");
    words.emplace_back("--help");
  }
  if (words[0] == "--version") words[0] = "version";
  if (kGroups.contains(words[0]) && (words.size() == 1 || asks_for_help(words[1]))) {
    return print_overview(words[0]);
  }
  const Verb& verb = find_verb(words);
  run_verb(verb, std::move(words), command);
}

const Verb* verb_named(const std::string& name) {
  for (const Verb& verb : verbs()) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

std::string shell_quoted(const std::string& word) {
  const bool plain =
      !word.empty() &&
      word.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%") ==
          std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

Parser::Parser(const Verb& verb) : app(verb.summary, verb.name) {
  run = verb.declare(app);
  app.add("--seed", common.seed, "Seed of all random draws").shows_default();
  app.add("--threads", common.threads, "Threads; 0 takes all cores")
      .check(between(0, 1024))
      .shows_default();
  app.add("--device", common.device, "cpu or cuda").check(one_of({"cpu", "cuda"})).shows_default();
  app.flag("--json", common.json, "Print the result as one JSON object on stdout");
  app.add("--config", config_file, "TOML file of options; the command line wins");
  app.footer("Example:\n  " + verb.example);
}

int run_program(const std::vector<std::string>& arguments) {
  occupy_standard_streams();
  try {
    install_signal_handlers();
    run_words(arguments);
    return std::fflush(stdout) == 0 ? 0 : unwritable(errno);
  } catch (const Interrupted& stop) {
    tell("agora: {}\n", stop.what());
    return 128 + stop.signal();
  } catch (const UserError& mistake) {
    tell("agora: {}\n", mistake.what());
    return 2;
  } catch (const EndWith& end) {
    tell("agora: {}\n", end.what());
    return end.status();
  } catch (const std::filesystem::filesystem_error& error) {
    tell("agora: {}\n",
         user_error("cannot use {}: {}", error.path1().string(), error.code().message()).what());
    return 2;
  } catch (const std::system_error& error) {  // of fmt::print
    if (std::ferror(stdout) != 0 || std::ferror(stderr) != 0)
      return unwritable(error.code().value());
    tell("agora: internal fault: {}\n", error.what());
    return 1;
  } catch (const std::bad_alloc&) {
    tell("agora: out of memory\n");
    return 2;
  } catch (const std::length_error&) {
    tell("agora: out of memory: a size is beyond any machine\n");
    return 2;
  } catch (const std::exception& fault) {
    tell("agora: internal fault: {}\n", fault.what());
    return 1;
  }
}

}  // namespace agora::cli
