#include "agents/ppo_parameters.h"

#include <utility>

namespace agora::agents {

Algorithm of_ppo(std::string name, std::string summary, std::vector<Parameter> parameters,
                 const std::function<EnsembleOptions(const Told&)>& how) {
  const auto make = [=](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
    return std::make_unique<PpoEnsemble>(options, how(Told(name, parameters, options.arguments)));
  };
  return {std::move(name), std::move(summary), std::move(parameters), make};
}

std::vector<Parameter> ppo_parameters() {
  const PpoOptions preset;
  return {
      {"rollout", static_cast<double>(EnsembleOptions{}.rollout), 1, 100'000, true,
       "steps of each environment between two updates"},
      {"epochs", static_cast<double>(preset.epochs), 1, 1000, true,
       "times an update looks at what was seen"},
      {"minibatches", static_cast<double>(preset.minibatches), 1, 10'000, true,
       "pieces that one look is cut into"},
      {"rate", preset.rate, kAboveZero, kFinite, false, "Adam's learning rate"},
      {"discount", preset.discount, 0, 1, false, "of future rewards"},
      {"lambda", preset.lambda, 0, 1, false, "of generalised advantages"},
      {"clip", preset.clip, kAboveZero, kFinite, false, "how far a ratio of probabilities may go"},
      {"entropy", preset.entropy, 0, kFinite, false, "coefficient of the entropy bonus"},
      {"value", preset.value, 0, kFinite, false, "coefficient of the value loss"},
      {"max-norm", preset.max_norm, kAboveZero, kFinite, false, "of the gradient"}};
}

std::vector<Parameter> ppo_parameters(const std::vector<std::string>& names) {
  const std::vector<Parameter> all = ppo_parameters();
  std::vector<Parameter> some;
  for (const std::string& name : names) some.push_back(*find(all, name));
  return some;
}

Parameter members_parameter() { return {"members", 4, 1, 64, true, "policies of the ensemble"}; }

Parameter penalty_parameter() {
  return {"penalty", 1,     0,
          kFinite,   false, "weight of a member's divergence from what ties them together"};
}

namespace {

EnsembleOptions shared_told(const Told& told) {
  EnsembleOptions how;
  how.rollout = told.whole<int64_t>("rollout");
  how.ppo.minibatches = told.whole<int64_t>("minibatches");
  how.ppo.rate = told.number("rate");
  how.ppo.discount = told.number("discount");
  how.ppo.lambda = told.number("lambda");
  how.ppo.clip = told.number("clip");
  how.ppo.entropy = told.number("entropy");
  how.ppo.max_norm = told.number("max-norm");
  return how;
}

}  // namespace

EnsembleOptions ensemble_told(const Told& told) {
  EnsembleOptions how = shared_told(told);
  how.ppo.epochs = told.whole<int64_t>("epochs");
  how.ppo.value = told.number("value");
  return how;
}

std::vector<Parameter> separate_parameters() {
  std::vector<Parameter> own = ppo_parameters();
  std::erase_if(
      own, [](const Parameter& each) { return each.name == "epochs" || each.name == "value"; });
  const SeparateValue preset;
  return both(own, {{"policy-epochs", 1, 1, 1000, true, "times the policy looks at what was seen"},
                    {"value-epochs", static_cast<double>(preset.epochs), 1, 1000, true,
                     "times the value looks at what was seen"},
                    {"advantage", preset.advantage, 0, kFinite, false,
                     "coefficient of what the policy's features say of advantages"}});
}

EnsembleOptions separate_told(const Told& told) {
  EnsembleOptions how = shared_told(told);
  how.ppo.epochs = told.whole<int64_t>("policy-epochs");
  how.ppo.separate = {.epochs = told.whole<int64_t>("value-epochs"),
                      .advantage = told.number("advantage")};
  return how;
}

std::vector<Parameter> invariance_parameters() {
  const Invariance preset;
  return {{"invariance", preset.weight, kAboveZero, kFinite, false,
           "weight of how much policy and value change where the picture is moved"},
          {"shift", preset.shift, kAboveZero, 0.5, false,
           "how far pictures are moved at most, as a share of their sides"}};
}

Invariance invariance_told(const Told& told) {
  return {.weight = told.number("invariance"), .shift = told.number("shift")};
}

std::vector<Parameter> link_parameters() {
  return {members_parameter(), penalty_parameter(),
          flag("average", "link the members by their mean, not by the largest")};
}

EnsembleOptions linked(EnsembleOptions how, const Told& told) {
  how.members = told.whole<int64_t>("members");
  how.deployed = told.flag("average") ? Link::kAverage : Link::kMax;
  how.pull = {.penalty = told.number("penalty"), .link = how.deployed};
  how.levels = EnsembleOptions::Levels::kBootstrap;
  return how;
}

std::vector<Parameter> leep_parameters() { return both(ppo_parameters(), link_parameters()); }

EnsembleOptions leep_told(const Told& told) { return linked(ensemble_told(told), told); }

std::vector<Parameter> explorer_parameters() {
  const ExplorerOptions preset;
  return both(declared(exploration_parameters()),
              {{"explorer-discount", preset.discount, 0, 1, false,
                "of the new things that the explorer finds"},
               {"neighbours", static_cast<double>(preset.neighbours), 1, 100, true,
                "what is far from so many of the episode's pictures is new"}});
}

ExplorerOptions explorer_told(const Told& told) {
  ExplorerOptions how{.discount = told.number("explorer-discount"),
                      .neighbours = told.whole<int64_t>("neighbours")};
  for (const auto& each : exploration_parameters()) {
    each.set(how.deployed, told.number(each.name));
  }
  return how;
}

std::vector<Parameter> replay_parameters() {
  const LevelReplay preset;
  return {{"level-temperature", preset.temperature, kAboveZero, kFinite, false,
           "of the chances of levels by rank: the lower, the fewer are played"},
          {"level-staleness", preset.staleness, 0, 1, false,
           "share of the chances by how long a level was not played"}};
}

LevelReplay replay_told(const Told& told) {
  return {.temperature = told.number("level-temperature"),
          .staleness = told.number("level-staleness")};
}

}  // namespace agora::agents
