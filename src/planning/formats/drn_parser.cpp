#include "planning/formats/drn_parser.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace agora::planning {
namespace {

// Takes the first word off the front.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

}  // namespace

void DrnParser::fail(const std::string& message) const {
  throw user_error("{}:{}: {}", path_, std::max<int64_t>(lines_.number(), 1), message);
}

double DrnParser::number(std::string_view text, const char* what) const {
  if (text.starts_with('$')) {
    const auto found = placeholders_.find(std::string(text));
    if (found == placeholders_.end())
      fail(fmt::format("unknown placeholder '{}'", printable(text)));
    return found->second;
  }
  const auto value = to_number(text);
  if (!value) fail(fmt::format("expected {}, found '{}'", what, printable(text)));
  return *value;
}

int32_t DrnParser::index(std::string_view text, const char* what) const {
  const auto value = to_index(text);
  if (!value) fail(fmt::format("expected {}, found '{}'", what, printable(text)));
  return *value;
}

std::string_view DrnParser::value_line(const char* after) {
  std::string_view line;
  if (!lines_.next(line)) fail(fmt::format("the file ends after {}", after));
  return trimmed(line);
}

Model DrnParser::parse() {
  read_header();
  ModelBuilder builder;
  std::vector<State> starts;
  sink_ = {.add =
               [&](State s, const std::string& action, State next, double probability,
                   double reward, int64_t line) {
                 builder.add(s, builder.action(action), next, probability, reward, line);
               },
           .terminal_reward = [&](State s, double reward,
                                  int64_t line) { builder.terminal_reward(s, reward, line); },
           .init = [&](State s) { starts.push_back(s); }};
  try {
    read_model();
    builder.reserve(end_ ? state_ : state_ + 1, 1);
    for (const State s : starts) builder.start(s, 1.0 / static_cast<double>(starts.size()));
    Model model = builder.build();
    if (!names_.empty()) {
      names_.resize(static_cast<size_t>(model.states()));
      for (size_t i = 0; i < names_.size(); ++i) {
        if (names_[i].empty()) names_[i] = std::to_string(i);
      }
      model.set_state_names(std::move(names_));
    }
    return model;
  } catch (const ModelError& error) {
    throw user_error("{}:{}: {}", path_, error.line(), error.what());
  }
}

DrnParser::Found DrnParser::parse_share(const FileShare& share, const Sink& sink) {
  read_header();
  const size_t begin = std::max(share.begin, lines_.position());
  lines_.restrict_to(begin, share.end, begin > share.begin ? lines_.number() : share.lines_before);
  sink_ = sink;
  is_part_ = true;
  read_model();
  const State count = state_ == kNone ? 0 : state_ + 1 - first_;
  return {.declared = declared_states_, .first = first_, .count = count, .has_end = end_};
}

void DrnParser::read_header() {
  std::string_view line;
  while (lines_.next(line)) {
    line = trimmed(line);
    if (line.empty() || line.starts_with("//")) continue;
    if (line.starts_with("@type:")) {
      type_ = trimmed(line.substr(6));
      for (char& c : type_) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      if (type_ != "MDP" && type_ != "DTMC" && type_ != "POMDP") {
        fail(fmt::format("models of type '{}' are not taken, expected MDP, DTMC or POMDP",
                         printable(type_)));
      }
    } else if (line.starts_with("@value_type:")) {
      const std::string_view kind = trimmed(line.substr(12));
      if (kind != "double" && kind != "rational") {
        fail(fmt::format("values of type '{}' are not taken, expected double or rational",
                         printable(kind)));
      }
    } else if (line == "@parameters") {
      const std::string_view names = value_line("@parameters");
      if (!names.empty()) fail(fmt::format("the model has parameters: {}", printable(names)));
    } else if (line == "@placeholders") {
      read_placeholders();
    } else if (line == "@reward_models") {
      value_line("@reward_models");  // a reward model may have no name
    } else if (line == "@nr_states") {
      declared_states_ = index(value_line("@nr_states"), "a number of states");
    } else if (line == "@nr_choices") {
      index(value_line("@nr_choices"), "a number of choices");
    } else if (line == "@model") {
      if (type_.empty()) fail("@type: has to come before @model");
      if (declared_states_ == 0) fail("the model is empty: no @nr_states before @model");
      return;
    } else {
      fail(fmt::format("this is not a DRN file: expected a line with @, found '{}'",
                       printable(line)));
    }
  }
  fail("this is not a DRN file: it ends before @model");
}

// "$name : value" until @reward_models, which follows in every file that Storm writes.
void DrnParser::read_placeholders() {
  std::string_view line;
  while (lines_.next(line)) {
    line = trimmed(line);
    if (line == "@reward_models") {
      value_line("@reward_models");  // a reward model may have no name
      return;
    }
    const size_t colon = line.find(':');
    if (!line.starts_with('$') || colon == line.npos) {
      fail(fmt::format("expected '$name : value' or @reward_models, found '{}'", printable(line)));
    }
    placeholders_[std::string(trimmed(line.substr(0, colon)))] =
        number(trimmed(line.substr(colon + 1)), "a number");
  }
}

void DrnParser::read_model() {
  std::string_view line;
  while (lines_.next(line)) {
    if (line.starts_with("//")) {
      if (state_ != kNone && !is_part_ && lines_.number() == state_line_ + 1) {
        names_.resize(static_cast<size_t>(state_) + 1);
        names_.back() = trimmed(line.substr(2));
      }
      continue;
    }
    line = trimmed(line);
    if (line.empty()) continue;
    if (line.starts_with("state ")) {
      open_state(line.substr(6));
    } else if (line.starts_with("action ")) {
      open_action(line.substr(7));
    } else {
      read_transition(line);
    }
  }
  close_state();
  if (!is_part_ && state_ + 1 != declared_states_) {
    fail(fmt::format("the file ends after {} states, @nr_states says {}", state_ + 1,
                     declared_states_));
  }
}

double DrnParser::take_rewards(std::string_view& text) const {
  if (!text.starts_with('[')) return 0;
  const size_t close = text.find(']');
  if (close == text.npos) fail("']' is missing");
  const std::string_view inside = text.substr(1, close - 1);
  text = trimmed(text.substr(close + 1));
  const double reward = number(trimmed(inside.substr(0, inside.find(','))), "a reward");
  if (!std::isfinite(reward))
    fail(fmt::format("the reward is {}, expected a finite number", reward));
  return reward;
}

void DrnParser::open_state(std::string_view text) {
  close_state();
  if (end_) fail(fmt::format("the state labelled {} has to be the last", kDrnEnd));
  const State id = index(take_word(text), "the number of a state");
  if (is_part_ && state_ == kNone) {
    first_ = id;
    state_ = id - 1;
  }
  if (id != state_ + 1) fail(fmt::format("expected state {}, found state {}", state_ + 1, id));
  if (id >= declared_states_) {
    fail(fmt::format("state {} is one too many, @nr_states says {}", id, declared_states_));
  }
  state_ = id;
  state_line_ = lines_.number();
  choices_.clear();
  if (text.starts_with('{')) {  // the observation of a POMDP
    const size_t close = text.find('}');
    if (close == text.npos) fail("'}' is missing");
    text = trimmed(text.substr(close + 1));
  }
  state_reward_ = take_rewards(text);
  terminal_ = false;
  while (!text.empty()) {
    const std::string_view label = take_word(text);
    if (label == "init") sink_.init(state_);
    if (label == kDrnTerminal) terminal_ = true;
    if (label == kDrnEnd) end_ = true;
  }
}

void DrnParser::open_action(std::string_view text) {
  if (state_ == kNone) fail("an action before the first state");
  if (type_ == "DTMC" && !choices_.empty()) fail("a second action in a DTMC");
  std::string name(take_word(text));
  if (name == "__NOLABEL__") name = std::to_string(choices_.size());
  // Storm lets several choices of a state carry one label.
  for (const Choice& choice : choices_) {
    if (choice.name == name) name += fmt::format("_{}", choices_.size());
  }
  const double reward = take_rewards(text);
  if (!text.empty()) fail(fmt::format("unexpected '{}' after the action", printable(text)));
  choices_.push_back({std::move(name), reward, lines_.number(), {}});
}

void DrnParser::read_transition(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == text.npos) {
    fail(fmt::format("expected 'state', 'action' or 'NUMBER : PROBABILITY', found '{}'",
                     printable(text)));
  }
  const State next = index(trimmed(text.substr(0, colon)), "the number of a state");
  if (choices_.empty()) fail("a transition before the first action of the state");
  if (next >= declared_states_) {
    fail(fmt::format("unknown state {}: @nr_states says {}", next, declared_states_));
  }
  const double p = number(trimmed(text.substr(colon + 1)), "a probability");
  choices_.back().transitions.push_back({next, p, lines_.number()});
}

bool DrnParser::absorbing() const {
  for (const Choice& choice : choices_) {
    if (state_reward_ + choice.reward != 0) return false;
    for (const Transition& t : choice.transitions) {
      if (t.next != state_) return false;
    }
  }
  return true;
}

void DrnParser::close_state() {
  if (state_ == kNone) return;
  if (choices_.empty()) {
    throw user_error("{}:{}: state {} has no action", path_, state_line_, state_);
  }
  for (const Choice& choice : choices_) {
    if (choice.transitions.empty()) {
      throw user_error("{}:{}: the action has no transitions", path_, choice.line);
    }
  }
  if (end_) return;
  if (terminal_ || absorbing()) {
    sink_.terminal_reward(state_, state_reward_, state_line_);
    return;
  }
  for (const Choice& choice : choices_) {
    for (const Transition& t : choice.transitions) {
      sink_.add(state_, choice.name, t.next, t.probability, state_reward_ + choice.reward, t.line);
    }
  }
}

}  // namespace agora::planning
