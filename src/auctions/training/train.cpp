#include <fmt/format.h>

#include "auctions/training/mechanism_learner.h"
#include "base/checkpoint_file.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

std::string words_of(const Recipe& recipe) {
  // All members: who adds one has to add it here.
  const auto& [hidden, width, iterations, batch, samples, rate, final_rate, weight_decay, averaging,
               misreport_steps, misreport_rate, misreport_final_rate, best_misreport, candidates,
               refinements, multiplier, penalty, penalty_step, penalty_every, multiplier_every,
               misreporter_rate, regret_floor, regret_weight, restart_every, restart_until, tariffs,
               temperature, final_temperature] = recipe;
  const auto words = [](const auto&... numbers) {
    std::string text;
    ((text += fmt::format("{} ", numbers)), ...);
    return text;
  };
  return words(hidden, width, iterations, batch, samples, rate, final_rate, weight_decay, averaging,
               misreport_steps, misreport_rate, misreport_final_rate, best_misreport, candidates,
               refinements, multiplier, penalty, penalty_step, penalty_every, multiplier_every,
               misreporter_rate, regret_floor, regret_weight, restart_every, restart_until, tariffs,
               temperature, final_temperature);
}

struct Stop {};

}  // namespace

std::unique_ptr<Mechanism> train(std::string_view mechanism, const Setting& setting,
                                 const Recipe& recipe, const TrainingOptions& options) {
  if (options.report_every < 1) {
    throw user_error("report_every: expected a positive number, found {}", options.report_every);
  }
  MechanismLearner learner(mechanism, setting, recipe, options.seed);
  CheckpointFile file(options.checkpoint, {{"mechanism", std::string(mechanism)},
                                           {"setting", setting.text()},
                                           {"seed", std::to_string(options.seed)},
                                           {"recipe", words_of(recipe)}});
  Checkpoints* const kept = options.checkpoint.empty() ? nullptr : &file;
  const auto report = [&](const NamedNumbers& numbers) -> std::string {
    const TrainingNumbers seen{numbers[0].second, numbers[1].second, numbers[3].second};
    if (options.progress && !options.progress({learner.step(), learner.total(), seen})) {
      throw Stop();
    }
    return "";
  };
  try {
    learn(learner, {.kept = kept, .log_every = options.report_every, .note = report});
  } catch (const Stop&) {
    if (kept != nullptr) kept->save(learner.step(), learner.tensors(), nullptr);
  }
  return learner.trainer().mechanism();
}

}  // namespace agora::auctions
