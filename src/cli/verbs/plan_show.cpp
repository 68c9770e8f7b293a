#include <fmt/format.h>

#include "base/error.h"
#include "cli/plan_model.h"
#include "cli/plan_solving.h"
#include "cli/verb.h"
#include "planning/model/drawing.h"

namespace agora::cli::kind_plan_show {
namespace {

using planning::Model;

constexpr int32_t kWidest = 200, kTallest = 100;

std::string action_names(const Model& model) {
  std::string names;
  for (planning::Action a = 0; a < std::min(model.actions(), 12); ++a) {
    names += (a == 0 ? "" : ", ") + model.action_name(a);
  }
  return model.actions() > 12 ? names + ", ..." : names;
}

void run(const ModelOptions& source, const SolveChoice& choice, const Common& common) {
  const Model model = source.read();
  const planning::Grid& grid = model.grid();
  const bool drawn = !grid.empty() && grid.cols <= kWidest && grid.rows <= kTallest;
  const std::string drawing = drawn ? draw_policy(model, choice.run(model).policy) : "";
  if (common.json) {
    print_json({{"model", source.source},
                {"states", model.states()},
                {"actions", model.actions()},
                {"transitions", model.transitions()},
                {"deterministic", model.is_deterministic()},
                {"terminals", model.terminals().size()},
                {"discount", model.discount()},
                {"reward_min", model.rewards().min()},
                {"reward_max", model.rewards().max()},
                {"start", describe_start(model)},
                {"drawing", drawn ? Json(drawing) : nullptr}});
    return;
  }
  fmt::print("{}: {}\n", source.source, describe(model));
  fmt::print("actions    {}\n", action_names(model));
  fmt::print("rewards    {:.6g} to {:.6g}\n", model.rewards().min(), model.rewards().max());
  fmt::print("terminals  {}", model.terminals().size());
  for (size_t i = 0; i < std::min<size_t>(model.terminals().size(), 4); ++i) {
    const auto [s, reward] = model.terminals()[i];
    fmt::print("{} '{}' worth {:.6g}", i == 0 ? ":" : ",", model.state_name(s), reward);
  }
  fmt::print("{}\n", model.terminals().size() > 4 ? ", ..." : "");
  fmt::print("discount   {}\n", model.discount());
  fmt::print("start      {}\n", describe_start(model));
  if (drawn) {
    fmt::print("\n{}", drawing);
  } else if (!grid.empty()) {
    fmt::print("\nThe map, {} x {}, is too large for text; `plan solve --picture` draws it.\n",
               grid.rows, grid.cols);
  }
}

}  // namespace

Verb entry_plan_show() {
  return {.name = "plan show",
          .summary = "What a model is; of a map, a drawing with the best moves",
          .example = "agora plan show 'slippery-cliff(slip=0.1)' --method vi",
          .declare = [](OptionList& app) {
            auto model = declare_model(app);
            auto choice = declare_solving(app);
            return [=](const Common& common) { run(*model, *choice, common); };
          }};
}

}  // namespace agora::cli::kind_plan_show
