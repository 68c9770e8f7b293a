#include "agents/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "agents/streams.h"
#include "base/error.h"
#include "base/rng.h"

namespace agora::agents {
namespace {

void expect_listable(const Levels& levels) {
  if (levels.size() <= Levels::kMostListed) return;
  throw user_error("{} levels are too many to draw samples of, expected {} at most", levels.size(),
                   Levels::kMostListed);
}

}  // namespace

Levels Levels::range(int64_t first, int64_t count) {
  if (count < 1) throw user_error("expected at least one level, found {}", count);
  if (first < 0 || first > kAll - count) {
    throw user_error("levels go from 0 to {}, found {} from {} on", kAll - 1, count, first);
  }
  Levels levels;
  levels.first_ = first;
  levels.count_ = count;
  return levels;
}

Levels Levels::list(std::vector<int64_t> levels) {
  if (levels.empty()) throw user_error("expected at least one level, found none");
  for (const int64_t level : levels) {
    if (level >= 0 && level < kAll) continue;
    throw user_error("levels go from 0 to {}, found {}", kAll - 1, level);
  }
  Levels result;
  result.listed_ = std::move(levels);
  return result;
}

int64_t Levels::size() const { return is_range() ? count_ : static_cast<int64_t>(listed_.size()); }

int64_t Levels::operator[](int64_t index) const {
  DCHECK(index >= 0 && index < size(), "level {} of {}", index, size());
  return is_range() ? first_ + index : listed_[static_cast<size_t>(index)];
}

int64_t Levels::draw(uint64_t seed, int64_t environment, int64_t episode) const {
  Rng rng(seed, stream(Stream::kLevels), static_cast<uint32_t>(episode),
          static_cast<uint32_t>(environment));
  if (sums_.empty()) return (*this)[rng.below(static_cast<uint32_t>(size()))];
  const auto found = std::upper_bound(sums_.begin(), sums_.end(), rng.uniform() * sums_.back());
  return (*this)[std::min<int64_t>(found - sums_.begin(), size() - 1)];
}

void Levels::prefer(std::span<const double> chances) {
  CHECK(chances.empty() || std::ssize(chances) == size(), "{} chances of {} levels", chances.size(),
        size());
  chances_.assign(chances.begin(), chances.end());
  sums_.resize(chances.size());
  std::partial_sum(chances.begin(), chances.end(), sums_.begin());
  CHECK(sums_.empty() || sums_.back() > 0, "no level has a chance");
}

Levels Levels::bootstrap(uint64_t seed, int64_t member) const {
  expect_listable(*this);
  Rng rng(seed, stream(Stream::kBootstrap), static_cast<uint32_t>(member));
  std::vector<int64_t> drawn(static_cast<size_t>(size()));
  for (int64_t& level : drawn) level = (*this)[rng.below(static_cast<uint32_t>(size()))];
  return list(std::move(drawn));
}

Levels Levels::part(int64_t index, int64_t parts) const {
  CHECK(index >= 0 && index < parts, "part {} of {}", index, parts);
  expect_listable(*this);
  std::vector<int64_t> own;
  for (int64_t k = index; k < size(); k += parts) own.push_back((*this)[k]);
  return list(std::move(own));
}

std::string Levels::text() const {
  if (is_range()) {
    return count_ == kAll ? "all levels"
                          : fmt::format("levels {} to {}", first_, first_ + count_ - 1);
  }
  std::vector<int64_t> sorted = listed_;
  std::sort(sorted.begin(), sorted.end());
  const auto different = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
  return fmt::format("{} different levels of {}", different, listed_.size());
}

}  // namespace agora::agents
