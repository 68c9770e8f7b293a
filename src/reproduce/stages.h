#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/learning_loop.h"
#include "base/run_folder.h"
#include "reproduce/experiment.h"

namespace agora::reproduce {

// What is looked at while somebody learns, `points` times.
struct Looks {
  int points = 0;
  std::function<Json(int64_t step)> look = {};
  std::function<void(int64_t step)> before_share = {};  // of the steps that lead to the next look
};

// The stages of an experiment: mostly one learner each, with what is measured of it. Finished
// stages and the state of a learner under way are kept in the task's folder, so that a run that
// was stopped goes on with the same bits.
class Stages {
 public:
  explicit Stages(Task& task);

  // What `compute` gives; a finished stage is not computed again.
  Json stage(const std::string& name, const std::function<Json()>& compute);

  // Leads the learner to its end and returns what was seen, look by look. At most once per stage.
  Json learn(Resumable& learner, const Looks& looks = {});

  const std::filesystem::path& folder() const { return task_.folder.path(); }

 private:
  class StageCheckpoints;
  void save(std::vector<StoredTensor> tensors, const Json& learner);

  Task& task_;
  int64_t step_ = 0;
  std::string active_;  // the stage under way
  Json done_ = Json::object();
  std::optional<Checkpoint> under_way_;  // of the stage that was stopped
};

// The number at `path` of every result, and its mean.
std::vector<double> numbers_at(const std::vector<Json>& results, const JsonPath& path);
double mean_at(const std::vector<Json>& results, const JsonPath& path);

// A curve of what was seen of learners: the mean over the seeds of `y` against `x`.
report::Series seen_curve(std::string name, const std::vector<Json>& results,
                          const std::string& stage, const std::string& x, const std::string& y);

}  // namespace agora::reproduce
