#include "agents/level_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "agents/saved_tensors.h"
#include "base/error.h"

namespace agora::agents {
namespace {

constexpr double kNever = -1;

size_t place_of(const std::vector<int64_t>& sorted, int64_t level) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), level);
  CHECK(found != sorted.end() && *found == level, "level {} is none of these", level);
  return static_cast<size_t>(found - sorted.begin());
}

}  // namespace

LevelScores::LevelScores(const Levels& levels, const LevelReplay& how) : how_(how) {
  if (levels.size() > Levels::kMostListed) {
    throw user_error("{} levels are too many to choose among, expected {} at most", levels.size(),
                     Levels::kMostListed);
  }
  for (int64_t k = 0; k < levels.size(); ++k) levels_.push_back(levels[k]);
  std::sort(levels_.begin(), levels_.end());
  levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
  for (int64_t k = 0; k < levels.size(); ++k) places_.push_back(place_of(levels_, levels[k]));
  scores_.assign(levels_.size(), kNever);
  since_.resize(levels_.size());
}

void LevelScores::note(const Rollout& rollout) {
  std::vector<double> sums(levels_.size()), steps(levels_.size());
  for (size_t k = 0; k < rollout.levels.size(); ++k) {
    const size_t place = place_of(levels_, rollout.levels[k]);
    sums[place] += std::abs(static_cast<double>(rollout.advantages[k]));
    ++steps[place];
  }
  for (size_t k = 0; k < levels_.size(); ++k) {
    ++since_[k];
    if (steps[k] == 0) continue;
    scores_[k] = sums[k] / steps[k];
    since_[k] = 0;
  }
}

std::vector<double> LevelScores::chances() const {
  std::vector<double> own(levels_.size());
  if (std::find(scores_.begin(), scores_.end(), kNever) != scores_.end()) {
    for (size_t k = 0; k < own.size(); ++k) own[k] = scores_[k] == kNever ? 1 : 0;
  } else {
    std::vector<size_t> order(own.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return scores_[a] > scores_[b]; });
    double ranks = 0, stale = 0;
    for (size_t r = 0; r < order.size(); ++r) {
      own[order[r]] = std::pow(static_cast<double>(r + 1), -1 / how_.temperature);
      ranks += own[order[r]];
      stale += static_cast<double>(since_[r]);
    }
    const double share = stale > 0 ? how_.staleness : 0;
    for (size_t k = 0; k < own.size(); ++k) {
      own[k] *= (1 - share) / ranks;
      if (share > 0) own[k] += share * static_cast<double>(since_[k]) / stale;
    }
  }
  std::vector<double> all;
  for (const size_t place : places_) all.push_back(own[place]);
  return all;
}

std::vector<StoredTensor> LevelScores::save(const std::string& prefix) const {
  const auto size = static_cast<int64_t>(levels_.size());
  return {StoredTensor::of<double>(prefix + "scores", {size}, scores_),
          StoredTensor::of<int64_t>(prefix + "since", {size}, since_)};
}

void LevelScores::restore(const TensorFile& saved, const std::string& prefix) {
  const auto scores = expect_tensor(saved, prefix + "scores", levels_.size()).values<double>();
  const auto since = expect_tensor(saved, prefix + "since", levels_.size()).values<int64_t>();
  for (size_t k = 0; k < scores.size(); ++k) {
    if (!(scores[k] >= 0 || scores[k] == kNever) || !std::isfinite(scores[k]) || since[k] < 0) {
      throw user_error("{}: {}scores are none that levels can have", saved.path, prefix);
    }
  }
  scores_ = scores;
  since_ = since;
}

}  // namespace agora::agents
