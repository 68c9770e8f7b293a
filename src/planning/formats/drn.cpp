#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "planning/formats/drn_parser.h"
#include "planning/formats/format.h"

namespace agora::planning::kind_drn {
namespace {

bool reward_depends_on_landing(const Model& model, State s, Action a) {
  const int64_t count = model.transition_count(s, a);
  for (int64_t i = 1; i < count; ++i) {
    if (model.transition(s, a, i).reward != model.transition(s, a, 0).reward) return true;
  }
  return false;
}

std::vector<std::string> write_drn(const Model& model, const std::filesystem::path& file) {
  bool terminal_rewards = false, means_written = false;
  for (const Terminal& end : model.terminals()) terminal_rewards |= end.reward != 0;
  int64_t choices = terminal_rewards ? 1 : 0;
  for (State s = 0; s < model.states(); ++s) {
    for (Action a = 0; a < model.actions(); ++a) choices += model.has(s, a);
    choices += model.terminal(s);
  }
  AtomicFile out(file);
  std::string text;
  const auto put = [&](auto format, const auto&... values) {
    fmt::format_to(std::back_inserter(text), fmt::runtime(format), values...);
    if (text.size() > 1 << 16) {
      out.write(text);
      text.clear();
    }
  };
  std::vector<double> start(static_cast<size_t>(model.states()));
  for (const auto& [s, p] : model.start()) start[static_cast<size_t>(s)] = p;
  put("// Written by agora\n@type: MDP\n@value_type: "
      "double\n@parameters\n\n@reward_models\nreward\n"
      "@nr_states\n{}\n@nr_choices\n{}\n@model\n",
      model.states() + terminal_rewards, choices);
  for (State s = 0; s < model.states(); ++s) {
    const char* init = start[static_cast<size_t>(s)] > 0 ? " init" : "";
    const bool end = model.terminal(s);
    if (end && terminal_rewards) {
      put("state {} [{}]{} {}\n", s, model.terminal_reward(s), init, kDrnTerminal);
    } else {
      put("state {} [0]{}\n", s, init);
    }
    if (const std::string name = model.state_name(s); name != std::to_string(s)) {
      put("//{}\n", name);
    }
    if (end) put("\taction end [0]\n\t\t{} : 1\n", terminal_rewards ? model.states() : s);
    for (Action a = 0; a < model.actions(); ++a) {
      const int64_t count = model.transition_count(s, a);
      if (count == 0) continue;
      const bool mean = reward_depends_on_landing(model, s, a);
      means_written |= mean;
      const double reward = mean ? model.expected_reward(s, a) : model.transition(s, a, 0).reward;
      put("\taction {} [{}]\n", model.action_name(a), reward);
      for (int64_t i = 0; i < count; ++i) {
        const Model::Transition t = model.transition(s, a, i);
        put("\t\t{} : {}\n", t.next, t.probability);
      }
    }
  }
  if (terminal_rewards) {
    put("state {} [0] {}\n\taction end [0]\n\t\t{} : 1\n", model.states(), kDrnEnd, model.states());
  }
  out.write(text);
  out.commit();
  std::vector<std::string> lost;
  if (means_written) {
    lost.push_back("rewards that depend on the landing state (their means are written)");
  }
  bool uniform = true;
  for (const auto& [s, p] : model.start()) {
    uniform &= std::abs(p * static_cast<double>(model.start().size()) - 1) < 1e-12;
  }
  if (!uniform) lost.push_back("the probabilities of the start states");
  if (model.discount() != 1) lost.push_back(fmt::format("the discount {}", model.discount()));
  return lost;
}

}  // namespace

Format entry_drn() {
  return {.name = "drn",
          .extensions = {".drn"},
          .summary = "Storm's explicit format; its first reward model",
          .read = [](const std::filesystem::path& file,
                     const LoadOptions&) { return DrnParser(file).parse(); },
          .write = write_drn};
}

}  // namespace agora::planning::kind_drn
