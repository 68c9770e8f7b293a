#include "planning/learning/learning_curve.h"

#include <algorithm>

#include "base/error.h"
#include "base/statistics.h"

namespace agora::planning {

LearningCurve::LearningCurve(const Model& model, const LearningOptions& options, int64_t episodes)
    : run_(model, options),
      episodes_(episodes),
      window_(std::clamp<int64_t>(episodes / 100, 1, 1000)),
      sums_(static_cast<size_t>(options.runs)) {}

void LearningCurve::advance(int64_t episodes) {
  for (const int64_t end = step() + episodes; step() < end;) {
    play(std::min(end, (step() / window_ + 1) * window_) - step());
  }
}

void LearningCurve::play(int64_t episodes) {
  const int64_t begin = step() / window_ * window_, end = std::min(begin + window_, episodes_);
  const double length = static_cast<double>(end - begin);
  const std::vector<double> returns = run_.advance(episodes);  // (episodes, runs)
  for (size_t i = 0; i < returns.size(); ++i) sums_[i % sums_.size()] += returns[i] / length;
  if (step() < end) return;
  const Summary summary = summarise(sums_);
  std::fill(sums_.begin(), sums_.end(), 0.0);
  episode_.push_back(static_cast<double>(step()));
  mean_.push_back(summary.mean);
  half_width_.push_back(summary.half_width95);
}

NamedNumbers LearningCurve::numbers() {
  return {{"return", mean_.back()}, {"return_ci95", half_width_.back()}};
}

std::vector<StoredTensor> LearningCurve::tensors() const {
  std::vector<StoredTensor> tensors;
  const auto size = static_cast<int64_t>(run_.table().size());
  tensors.push_back(StoredTensor::of<double>("table", {size}, run_.table()));
  if (!run_.visits().empty()) {
    tensors.push_back(StoredTensor::of<double>("visits", {size}, run_.visits()));
  }
  if (step() % window_ != 0 && step() < episodes_) {
    tensors.push_back(
        StoredTensor::of<double>("window", {static_cast<int64_t>(sums_.size())}, sums_));
  }
  return tensors;
}

Json LearningCurve::extra() const {
  return {{"steps", run_.steps()},
          {"curve", {{"episode", episode_}, {"mean", mean_}, {"half_width", half_width_}}}};
}

void LearningCurve::restore(const Checkpoint& checkpoint) {
  using Numbers = std::vector<double>;
  const std::string& file = checkpoint.tensors.path;
  const auto curve = json_member<Json>(checkpoint.extra, "curve", file);
  episode_ = json_member<Numbers>(curve, "episode", file);
  mean_ = json_member<Numbers>(curve, "mean", file);
  half_width_ = json_member<Numbers>(curve, "half_width", file);
  const size_t points = episode_.size();
  const int64_t last = points == 0 ? 0 : static_cast<int64_t>(episode_.back());
  const int64_t begin =
      checkpoint.step >= episodes_ ? episodes_ : checkpoint.step / window_ * window_;
  if (mean_.size() != points || half_width_.size() != points || last != begin ||
      checkpoint.step < 0 || checkpoint.step > episodes_) {
    throw user_error("{}: expected a curve up to episode {}, of {} at most", file, begin,
                     episodes_);
  }
  const StoredTensor* visits = checkpoint.tensors.find("visits");
  run_.restore(checkpoint.tensors.at("table").values<double>(),
               visits == nullptr ? Numbers() : visits->values<double>(), checkpoint.step,
               json_member<int64_t>(checkpoint.extra, "steps", file));
  std::fill(sums_.begin(), sums_.end(), 0.0);
  if (checkpoint.step > begin) {
    sums_ = checkpoint.tensors.at("window", {static_cast<int64_t>(sums_.size())}).values<double>();
  }
}

}  // namespace agora::planning
