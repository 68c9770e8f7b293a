#pragma once
#include <agora/auction_audit.h>
#include <agora/auction_training.h>

#include <functional>
#include <memory>
#include <string>

#include "base/run_folder.h"
#include "reproduce/experiment.h"

namespace agora::reproduce {

// One network to be trained.
struct Training {
  std::string mechanism;
  auctions::Setting setting;
  auctions::Recipe recipe;
  uint64_t seed = 0;
};

// What is looked at while a network learns, `points` times.
struct Watch {
  int points = 0;
  // The mechanism as learned so far and what the training saw since the last look.
  std::function<Json(int64_t iteration, const auctions::Mechanism&, auctions::TrainingNumbers)>
      look;
  // Before every look's share of the iterations: a drifting law moves on.
  std::function<void(int64_t iteration, auctions::Trainer&)> before;
};

// The stages of an experiment: mostly one training each, with what is measured of it. Finished
// stages and the state of a training under way are kept in the task's folder, so that a run that
// was stopped goes on with the same bits.
class Stages {
 public:
  explicit Stages(Task& task);

  // What `compute` gives; a finished stage is not computed again.
  Json stage(const std::string& name, const std::function<Json()>& compute);

  struct Trained {
    std::unique_ptr<auctions::Mechanism> mechanism;
    Json seen = Json::array();  // one entry per look
  };
  // At most one training per stage.
  Trained train(const Training& training, const Watch& watch = {});

 private:
  void save(std::vector<StoredTensor> tensors, const Json& seen);

  Task& task_;
  int64_t step_ = 0;
  std::string active_;  // the stage under way
  Json done_ = Json::object();
  std::optional<Checkpoint> under_way_;  // of the stage that was stopped
};

// A recipe of so many iterations, with its schedules compressed or stretched.
auctions::Recipe with_iterations(auctions::Recipe recipe, int64_t iterations);
// The shipped recipe; with so many iterations at quick scale.
auctions::Recipe recipe_for(const Task& task, std::string_view mechanism,
                            const auctions::Setting& setting, int64_t quick_iterations);

// The numbers of the thesis's tables: {"revenue","se","regret","strong","p_star"}; regrets are
// means per bidder by the thesis's and by the strong test (which decides P*).
Json measured(const auctions::Mechanism& mechanism, const auctions::Setting& setting,
              const auctions::AuditOptions& options);
// How much of an audit a scale affords.
auctions::AuditOptions audit_for(const Task& task);

// The number at `path` of every result, and its mean.
std::vector<double> numbers_at(const std::vector<Json>& results, const Json::json_pointer& path);
double mean_at(const std::vector<Json>& results, const Json::json_pointer& path);

// A curve of what watched trainings saw: the mean over the seeds of `y` against `x`.
report::Series seen_curve(std::string name, const std::vector<Json>& results,
                          const std::string& stage, const std::string& x, const std::string& y);

}  // namespace agora::reproduce
