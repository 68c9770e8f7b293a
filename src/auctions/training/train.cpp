#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "auctions/training/mechanism_learner.h"
#include "base/error.h"
#include "base/signals.h"

namespace agora::auctions {
namespace {

using Clock = std::chrono::steady_clock;

std::string words_of(const Recipe& recipe) {
  // All members: who adds one has to add it here.
  const auto& [hidden, width, iterations, batch, samples, rate, final_rate, weight_decay, averaging,
               misreport_steps, misreport_rate, misreport_final_rate, best_misreport, candidates,
               refinements, multiplier, penalty, penalty_step, penalty_every, multiplier_every,
               misreporter_rate, regret_floor, restart_every, restart_until] = recipe;
  const auto words = [](const auto&... numbers) {
    std::string text;
    ((text += fmt::format("{} ", numbers)), ...);
    return text;
  };
  return words(hidden, width, iterations, batch, samples, rate, final_rate, weight_decay, averaging,
               misreport_steps, misreport_rate, misreport_final_rate, best_misreport, candidates,
               refinements, multiplier, penalty, penalty_step, penalty_every, multiplier_every,
               misreporter_rate, regret_floor, restart_every, restart_until);
}

// One file, written over and over.
class CheckpointFile : public Checkpoints {
 public:
  CheckpointFile(std::string path, std::map<std::string, std::string> training)
      : path_(std::move(path)), training_(std::move(training)) {}

  std::optional<Checkpoint> latest() const override {
    if (!std::filesystem::exists(path_)) return std::nullopt;
    Checkpoint found{.step = 0, .tensors = read_safetensors(path_), .extra = nullptr};
    for (const auto& [what, expected] : training_) {
      const auto given = found.tensors.metadata.find(what);
      if (given == found.tensors.metadata.end() || given->second != expected) {
        throw user_error("{}: it is of another training: its {} differs", path_, what);
      }
    }
    found.step = found.tensors.at("iteration", {1}).values<int64_t>()[0];
    return found;
  }
  void save(int64_t, std::vector<StoredTensor> tensors, const Json&) override {
    write_safetensors(path_, {.tensors = std::move(tensors), .metadata = training_, .path = path_});
    saved_ = Clock::now();
  }
  bool save_is_due() const override {
    return stop_requested() || Clock::now() - saved_ >= std::chrono::seconds(10);
  }

 private:
  std::string path_;
  std::map<std::string, std::string> training_;
  Clock::time_point saved_ = Clock::now();
};

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
