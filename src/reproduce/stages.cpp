#include "reproduce/stages.h"

#include "base/error.h"
#include "base/signals.h"

namespace agora::reproduce {

// The learner of the stage under way, in the task's folder beside the stages that are done.
class Stages::StageCheckpoints : public Checkpoints {
 public:
  explicit StageCheckpoints(Stages& stages) : stages_(stages) {}

  std::optional<Checkpoint> latest() const override {
    const auto& saved = stages_.under_way_;
    if (!saved || saved->extra.at("active") != stages_.active_) return std::nullopt;
    const Json& learner = saved->extra.at("learner");
    return Checkpoint{learner.at("step").get<int64_t>(), saved->tensors, learner.at("extra")};
  }
  void save(int64_t step, std::vector<StoredTensor> tensors, const Json& extra) override {
    stages_.save(std::move(tensors), {{"step", step}, {"extra", extra}});
  }
  bool save_is_due() const override { return stages_.task_.folder.save_is_due(); }

 private:
  Stages& stages_;
};

Stages::Stages(Task& task) : task_(task), under_way_(task.folder.latest()) {
  if (!under_way_) return;
  step_ = under_way_->step;
  done_ = under_way_->extra.at("done");
  if (under_way_->extra.at("active").get<std::string>().empty()) under_way_.reset();
}

void Stages::save(std::vector<StoredTensor> tensors, const Json& learner) {
  task_.folder.save(++step_, std::move(tensors),
                    {{"done", done_}, {"active", active_}, {"learner", learner}});
}

Json Stages::stage(const std::string& name, const std::function<Json()>& compute) {
  if (done_.contains(name)) return done_[name];
  active_ = name;
  Json result = compute();
  active_.clear();
  under_way_.reset();
  done_[name] = result;
  save({}, nullptr);
  throw_if_stopped();
  return result;
}

Json Stages::learn(Resumable& learner, const Looks& looks) {
  CHECK(!active_.empty(), "a learner outside a stage");
  StageCheckpoints kept(*this);
  return agora::learn(learner, {.kept = &kept,
                                .looks = looks.points,
                                .look = looks.look,
                                .before_share = looks.before_share});
}

std::vector<double> numbers_at(const std::vector<Json>& results, const JsonPath& path) {
  std::vector<double> all;
  all.reserve(results.size());
  for (const Json& result : results) all.push_back(result.at(path).get<double>());
  return all;
}

double mean_at(const std::vector<Json>& results, const JsonPath& path) {
  double sum = 0;
  for (const double value : numbers_at(results, path)) sum += value;
  return sum / static_cast<double>(results.size());
}

report::Series seen_curve(std::string name, const std::vector<Json>& results,
                          const std::string& stage, const std::string& x, const std::string& y) {
  report::Series curve{.name = std::move(name), .x = {}, .y = {}};
  const size_t points = results.front().at(stage).at("seen").size();
  for (size_t k = 0; k < points; ++k) {
    const JsonPath at = JsonPath("/" + stage + "/seen") / k;
    curve.x.push_back(mean_at(results, at / x));
    curve.y.push_back(mean_at(results, at / y));
  }
  return curve;
}

}  // namespace agora::reproduce
