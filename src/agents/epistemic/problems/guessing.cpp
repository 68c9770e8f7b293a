#include <agora/planning/builder.h>

#include <cmath>

#include "agents/epistemic/problem_kind.h"

namespace agora::agents::epistemic::kind_guessing {
namespace {

using planning::Action;

std::vector<Parameter> parameters() {
  return {{"labels", 4, 2, 20, true, "that the image may have"},
          {"discount", 1, 0, 1, false, "of later guesses"}};
}

// States: the image, and the end.
planning::Model one_state(Action labels, double discount, const std::function<bool(Action)>& ends,
                          const std::function<double(Action)>& reward) {
  planning::ModelBuilder builder;
  builder.state("image");
  builder.state("known");
  for (Action a = 0; a < labels; ++a) {
    builder.add(0, builder.action("label " + std::to_string(a)), ends(a) ? 1 : 0, 1, reward(a));
  }
  builder.discount(discount);
  return builder.build();
}

// Half of what is left for each label but the last.
std::vector<double> halves(int labels) {
  std::vector<double> weights;
  for (int k = 0; k < labels; ++k) weights.push_back(std::pow(0.5, std::min(k + 1, labels - 1)));
  return weights;
}

}  // namespace

// App. FashionMnistTheory: one image, guesses until one is right. Believed: the bandit whose
// maximum-entropy policy at temperature 1 is the best policy without memory (app. MaxEntRL).
ProblemKind entry_guessing() {
  return {.name = "guessing",
          .summary = "guess the label of an image until it is right: -1 for a wrong one",
          .parameters = parameters(),
          .posterior = [](const Told& told) { return halves(told.whole("labels")); },
          .make =
              [](const Told& told, const std::vector<double>& weights) {
                const auto labels = told.whole<Action>("labels");
                const double discount = told.number("discount");
                std::vector<Member> members;
                for (Action k = 0; k < labels; ++k) {
                  members.push_back({"label " + std::to_string(k),
                                     one_state(
                                         labels, discount, [=](Action a) { return a == k; },
                                         [=](Action a) { return a == k ? 0.0 : -1.0; }),
                                     weights[static_cast<size_t>(k)]});
                }
                // A label that cannot be has no logarithm; e^-50 of the others is none.
                const auto half_log = [&](Action a) {
                  return 0.5 * std::log(std::max(weights[static_cast<size_t>(a)], 1e-44));
                };
                Member bandit{"bandit",
                              one_state(
                                  labels, discount, [](Action) { return true; }, half_log)};
                return make_problem("guessing", std::move(members), {std::move(bandit)});
              }};
}

}  // namespace agora::agents::epistemic::kind_guessing
