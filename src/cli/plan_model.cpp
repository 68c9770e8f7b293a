#include "cli/plan_model.h"

#include <fmt/format.h>

#include "cli/kind_options.h"
#include "planning/formats/format.h"
#include "planning/models/builtin.h"

namespace agora::cli {

std::shared_ptr<ModelOptions> declare_model(OptionList& app) {
  auto model = std::make_shared<ModelOptions>();
  planning::LoadOptions& load = model->load;
  app.add("MODEL", model->source,
          "A file (.map .csv .drn .mdp .pomdp) or a built-in model, e.g. maze(rows=21)")
      .required()
      .offers(names_in(planning::builtins()));
  const std::vector<std::string> formats = names_in(planning::formats());
  app.add("--format", load.format, fmt::format("Format of the file: {}", fmt::join(formats, ", ")))
      .offers(formats, false);
  app.add("--start", load.start,
          "Start: a state, uniform, or \"NAME:P NAME:P ...\"; a cell is ROW,COLUMN");
  app.add("--discount", load.discount, "Discount, in place of the model's own");
  app.add("--step-reward", load.grid.step_reward, "Maps: reward of a step").shows_default();
  app.add("--goal-reward", load.grid.goal_reward, "Maps: terminal reward of G").shows_default();
  app.add("--pit-reward", load.grid.pit_reward, "Maps: terminal reward of !").shows_default();
  app.add("--slip", load.grid.slip,
          "Maps: probability that a move goes to one of its two sides, each half")
      .shows_default();
  return model;
}

std::string describe_start(const planning::Model& model) {
  if (model.start().size() == 1) return model.state_name(model.start()[0].state);
  return fmt::format("{} states", model.start().size());
}

std::string describe(const planning::Model& model) {
  return fmt::format("{} states, {} actions, {} transitions, {}", model.states(), model.actions(),
                     model.transitions(),
                     model.is_deterministic() ? "deterministic" : "stochastic");
}

}  // namespace agora::cli
