#pragma once
#include <agora/planning/builder.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "planning/distributed/file_share.h"
#include "planning/model/text.h"

namespace agora::planning {

// Labels by which the writer keeps terminal rewards: Storm collects the state's reward once on
// the way to one common last state, and the reader makes a terminal state of it again.
inline constexpr std::string_view kDrnTerminal = "agora_terminal";
inline constexpr std::string_view kDrnEnd = "agora_end";

// Storm's explicit format, line by line. Of several reward models the first counts, with a name
// or without; what a state and an action earn is added up. States that return to themselves for
// nothing are terminal.
class DrnParser {
 public:
  explicit DrnParser(const std::filesystem::path& file) : path_(file.string()), lines_(file) {}
  Model parse();

  // Only the states of `share`, which begins and ends at lines that begin one.
  struct Sink {
    std::function<void(State, const std::string& action, State next, double probability,
                       double reward, int64_t line)>
        add;
    std::function<void(State, double reward, int64_t line)> terminal_reward;
    std::function<void(State)> init;  // a start state
  };
  struct Found {
    State declared;      // states of the whole file
    State first, count;  // those read
    bool has_end;        // the last of them is the writer's end, which is no state
  };
  Found parse_share(const FileShare& share, const Sink& sink);

 private:
  [[noreturn]] void fail(const std::string& message) const;
  std::string_view value_line(const char* after);
  void read_header();
  void read_placeholders();
  void read_model();
  void open_state(std::string_view text);
  void open_action(std::string_view text);
  void read_transition(std::string_view text);
  void close_state();
  bool absorbing() const;
  double number(std::string_view text, const char* what) const;
  int32_t index(std::string_view text, const char* what) const;
  // Takes "[a, b]" off the front and gives the first number; 0 if there is none.
  double take_rewards(std::string_view& text) const;

  std::string path_;
  LineReader lines_;
  std::unordered_map<std::string, double> placeholders_;
  std::string type_;
  int32_t declared_states_ = 0;

  Sink sink_;
  bool is_part_ = false;
  State first_ = 0;
  std::vector<std::string> names_;  // empty, or (states): comments right after their lines

  struct Transition {
    State next;
    double probability;
    int64_t line;
  };
  struct Choice {
    std::string name;
    double reward;
    int64_t line;
    std::vector<Transition> transitions;
  };
  // The state being read.
  State state_ = kNone;
  double state_reward_ = 0;
  int64_t state_line_ = 0;
  bool terminal_ = false, end_ = false;
  std::vector<Choice> choices_;
};

}  // namespace agora::planning
