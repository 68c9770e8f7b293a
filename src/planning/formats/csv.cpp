#include <agora/planning/builder.h>

#include <optional>

#include "base/error.h"
#include "planning/formats/csv_transitions.h"
#include "planning/formats/format.h"
#include "planning/model/text.h"

namespace agora::planning::kind_csv {
namespace {

// States written as 0 ... n-1 are their own numbers and need no names. False: some are missing
// or not numbers.
class Numbering {
 public:
  // A row takes at least ten bytes and names two states, which bounds their number.
  explicit Numbering(uint64_t file_bytes) : most_(static_cast<int64_t>(file_bytes / 5 + 2)) {}

  std::optional<State> state(std::string_view text) {
    const auto number = to_index(text);
    if (!number || *number > most_) return {};
    const size_t at = static_cast<size_t>(*number);
    if (at >= seen_.size()) seen_.resize(std::max(at + 1, 2 * seen_.size()), false);
    if (!seen_[at]) ++count_;
    seen_[at] = true;
    last_ = std::max(last_, *number);
    return number;
  }
  bool complete() const { return count_ == int64_t{last_} + 1; }

 private:
  int64_t most_;
  std::vector<bool> seen_;
  int64_t count_ = 0;
  State last_ = -1;
};

// Nothing: the states are not numbered and must be read by name.
std::optional<Model> read(const std::filesystem::path& file, bool by_number) {
  CsvReader reader(file);
  ModelBuilder builder;
  Numbering numbering(by_number ? std::filesystem::file_size(file) : 0);
  std::string name;
  // Rows come in runs of the same state and action.
  std::string last_action;
  Action last_action_index = kNone;
  const auto state = [&](std::string_view text) -> std::optional<State> {
    if (by_number) return numbering.state(text);
    name = text;
    return builder.state(name);
  };
  bool numbered = true;
  const bool any = read_transitions(
      reader,
      [&](std::string_view from, std::string_view by, std::string_view to, double probability,
          double reward) {
        const auto s = state(from), next = state(to);
        if (!s || !next) return numbered = false;
        if (last_action_index == kNone || by != last_action) {
          last_action = by;
          last_action_index = builder.action(last_action);
        }
        builder.add(*s, last_action_index, *next, probability, reward, reader.line());
        return true;
      },
      [&](std::string_view end, double reward) {
        const auto s = state(end);
        if (!s) return numbered = false;
        builder.terminal_reward(*s, reward, reader.line());
        return true;
      });
  if (!numbered) return {};
  if (!any) throw user_error("{}: the model is empty: no transitions", file.string());
  if (by_number && !numbering.complete()) return {};
  return builder.build();
}

Model read_csv(const std::filesystem::path& file) {
  try {
    // What comes from a pipe can be read only once.
    if (std::filesystem::is_regular_file(file)) {
      if (auto model = read(file, true)) return *std::move(model);
    }
    return *read(file, false);
  } catch (const ModelError& error) {
    throw at_line(file, error);
  }
}

std::vector<std::string> write_csv(const Model& model, const std::filesystem::path& file) {
  CsvWriter writer(file, transition_columns());
  for (State s = 0; s < model.states(); ++s) {
    const std::string name = model.state_name(s);
    if (model.terminal(s)) {
      writer.row(name, "", "", "", model.terminal_reward(s));
      continue;
    }
    for (Action a = 0; a < model.actions(); ++a) {
      const int64_t count = model.transition_count(s, a);
      for (int64_t i = 0; i < count; ++i) {
        const Model::Transition t = model.transition(s, a, i);
        writer.row(name, model.action_name(a), model.state_name(t.next), t.probability, t.reward);
      }
    }
  }
  writer.commit();
  std::vector<std::string> lost;
  if (model.start().size() > 1) {
    lost.push_back("the start distribution");
  } else if (model.start()[0].state != 0) {
    lost.push_back(fmt::format("the start, '{}'", model.state_name(model.start()[0].state)));
  }
  if (model.discount() != 1) lost.push_back(fmt::format("the discount {}", model.discount()));
  return lost;
}

}  // namespace

Format entry_csv() {
  return {
      .name = "csv",
      .extensions = {".csv"},
      .summary = "table of transitions: state,action,next_state,probability,reward",
      .read = [](const std::filesystem::path& file, const LoadOptions&) { return read_csv(file); },
      .write = write_csv};
}

}  // namespace agora::planning::kind_csv
