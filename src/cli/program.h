#pragma once
#include <string>
#include <vector>

#include "cli/verb.h"

namespace agora::cli {

// Runs the verb that the words after the program's name ask for and returns the exit status:
// 0 done, 1 internal fault, 2 the user's mistake, 130/143 interrupted after saving.
int run_program(const std::vector<std::string>& arguments);

// The same for a verb that hands over to another: mistakes are thrown.
void run_words(std::vector<std::string> words);

// The verb of that name; null if there is none.
const Verb* verb_named(const std::string& name);

// The verb's parser with its own and the common options; `run` and `common` are set by parsing.
struct Parser {
  explicit Parser(const Verb& verb);
  OptionList app;
  Common common;
  std::string config_file;
  std::function<void(const Common&)> run;
};

// One word of a command line, quoted where a shell would need it.
std::string shell_quoted(const std::string& word);

}  // namespace agora::cli
