#pragma once
#include <agora/error.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/options.h"

namespace agora::cli {

// The options every verb has, and what a run has to remember of its command line.
struct Common {
  uint64_t seed = 0;
  int threads = 0;  // 0: all cores
  std::string device = "cpu";
  bool json = false;  // print the result as one JSON object on stdout

  std::string command;  // as typed, quoted for a shell
  Json settings;        // every option as resolved: {"verb": "plan solve", "seed": 0, ...}
};

// One verb is one file of verbs/, whose `Verb entry_STEM()` fills this.
struct Verb {
  std::string name;           // "plan solve": a group and a verb, or one word
  std::string summary;        // one line, for listings
  std::string example;        // a whole command line that works in an empty folder; a test runs it
  bool takes_device = false;  // it runs programs of the compute core: --device cuda makes sense
  // Of a verb whose work is a run: its options that name files to write.
  std::vector<std::string> outputs = {};
  // Declares the verb's own options on `app` and returns what to do once they are parsed.
  // A verb whose work is a run takes --run FOLDER and goes on from what it finds there.
  std::function<std::function<void(const Common&)>(OptionList& app)> declare;
};

// Thrown by a verb that did its work and printed it, where the exit status has to tell something.
class EndWith : public Error {
 public:
  EndWith(int status, const std::string& line) : Error(line), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};
inline constexpr int kExperimentFailed = 1;
inline constexpr int kRuleMissed = 3;

// Every verb, in the order of their file names (generated).
const std::vector<Verb>& verbs();

// The result of a verb: one line of JSON on stdout.
void print_json(const Json& result);

}  // namespace agora::cli
