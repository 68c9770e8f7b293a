#include "planning/distributed/model_share.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/thread_pool.h"
#include "planning/models/builtin.h"

namespace agora::planning {

int ModelShare::local(State global) const {
  if (global >= first && global < first + own) return global - first;
  const auto found = std::lower_bound(ghosts.begin(), ghosts.end(), global);
  if (found == ghosts.end() || *found != global) return kNone;
  return own + static_cast<State>(found - ghosts.begin());
}

UserError stochastic_share() {
  return user_error("several processes share deterministic models only; this one is stochastic");
}

ModelShare make_share(State first, State own, State total, Action actions,
                      std::vector<State> successors, Rewards rewards,
                      std::vector<Terminal> terminals) {
  std::vector<State> ghosts;
  for (const State next : successors) {
    if (next != kNone && (next < first || next >= first + own)) ghosts.push_back(next);
  }
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  ghosts.shrink_to_fit();
  ModelShare share{.model = Model::deterministic(1, {kNone}, Rewards(0.0)),
                   .first = first,
                   .own = own,
                   .total = total,
                   .ghosts = std::move(ghosts)};
  for (State& next : successors) {
    if (next != kNone) next = share.local(next);
  }
  const size_t rows =
      (static_cast<size_t>(own) + share.ghosts.size()) * static_cast<size_t>(actions);
  if (!rewards.constant()) {
    std::vector<double> each(std::max<size_t>(rows, 1), 0.0);
    for (size_t i = 0; i < successors.size(); ++i) each[i] = rewards[static_cast<int64_t>(i)];
    rewards = Rewards(std::move(each));
  }
  successors.resize(rows, kNone);
  if (rows > 0) {
    share.model = Model::deterministic(actions, std::move(successors), std::move(rewards),
                                       std::move(terminals));
  }
  return share;
}

ModelShare cut_share(const Model& model, int share, int shares) {
  const Range range = part_range(model.states(), share, shares);
  return cut_states(model, static_cast<State>(range.begin),
                    static_cast<State>(range.end - range.begin));
}

ModelShare cut_states(const Model& model, State first, State own) {
  if (!model.is_deterministic()) throw stochastic_share();
  const Action d = model.actions();
  const auto rows = model.successors().subspan(static_cast<size_t>(model.row(first, 0)),
                                               static_cast<size_t>(own) * static_cast<size_t>(d));
  Rewards rewards = model.rewards();
  if (!rewards.constant()) {
    std::vector<double> each;
    for (size_t i = 0; i < rows.size(); ++i) {
      each.push_back(rewards[model.row(first, 0) + static_cast<int64_t>(i)]);
    }
    rewards = Rewards(std::move(each));
  }
  std::vector<Terminal> terminals;
  for (const auto& [s, reward] : model.terminals()) {
    if (s >= first && s < first + own) terminals.push_back({s - first, reward});
  }
  ModelShare result = make_share(first, own, model.states(), d, {rows.begin(), rows.end()},
                                 std::move(rewards), std::move(terminals));
  result.start.assign(model.start().begin(), model.start().end());
  std::vector<std::string> names;
  for (State s = first; s < first + own; ++s) names.push_back(model.state_name(s));
  result.name = [names = std::move(names)](State s) { return names[static_cast<size_t>(s)]; };
  std::vector<std::string> actions;
  for (Action a = 0; a < d; ++a) actions.push_back(model.action_name(a));
  if (result.model.actions() == d) result.model.set_action_names(std::move(actions));
  return result;
}

ModelShare builtin_share(const std::string& source, int share, int shares) {
  const auto [builtin, arguments] = parse_builtin(source);
  if (builtin.make_share) return builtin.make_share(arguments, share, shares);
  return cut_share(builtin.make(arguments), share, shares);
}

}  // namespace agora::planning
