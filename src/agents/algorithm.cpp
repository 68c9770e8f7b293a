#include "agents/algorithm.h"

#include "base/error.h"
#include "base/text.h"

namespace agora::agents {

const Algorithm& algorithm_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Algorithm& each : algorithms()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw user_error("unknown algorithm '{}'{}", printable(name), suggestion(name, names));
}

void AgentLearner::advance(int64_t iterations) {
  for (int64_t k = 0; k < iterations; ++k) {
    remember();
    try {
      iterate();
    } catch (...) {
      go_back();
      throw;
    }
    ++iteration_;
  }
}

SavedPolicy policy_without_members(const AgentOptions& agent, const Space& space) {
  SavedPolicy saved;
  saved.environment = agent.environment;
  saved.environment_arguments = agent.environment_arguments;
  saved.levels = agent.levels.size();
  saved.space = space;
  saved.network = agent.network;
  return saved;
}

}  // namespace agora::agents
