#include "agents/mover.h"

#include <cmath>

namespace agora::agents {
namespace {

constexpr double kReach = 10.0 / 64;  // of a picture's side: farther than any step
constexpr double kWide = 20.0 / 64;   // what changes by more is not one thing that moves
constexpr size_t kMostRanks = 1024;
constexpr size_t kFewRanks = 8;
constexpr double kLong = 0.9, kLonger = 1.25;  // a change this much above the quantile is another
constexpr double kLarger = 1.5;                // than usual: something else is beside it

}  // namespace

void Ranks::add(int64_t number) {
  if (numbers_.size() >= kMostRanks) return;
  numbers_.insert(std::upper_bound(numbers_.begin(), numbers_.end(), number), number);
}

int64_t Ranks::at(double share) const {
  if (numbers_.empty()) return 0;
  return numbers_[static_cast<size_t>(share * static_cast<double>(numbers_.size()))];
}

Mover::Mover(const ObservationSpace& space)
    : rows_(space.shape[0]),
      columns_(space.shape[1]),
      channels_(space.shape[2]),
      reach_(kReach * static_cast<double>(std::min(rows_, columns_))) {}

bool Mover::has_moved() const {
  return std::max(std::abs(at_.x - before_.x), std::abs(at_.y - before_.y)) >= 1;
}

bool Mover::differ(const std::vector<std::byte>& a, const std::vector<std::byte>& b, int64_t x,
                   int64_t y) const {
  const auto first = (y * columns_ + x) * channels_;
  return !std::equal(a.begin() + first, a.begin() + first + channels_, b.begin() + first);
}

bool Mover::is_near(Point point, int64_t x, int64_t y) const {
  return std::abs(static_cast<double>(x) + 0.5 - point.x) <= reach_ &&
         std::abs(static_cast<double>(y) + 0.5 - point.y) <= reach_;
}

// What moves sideways changes as many rows as it is high.
int64_t Mover::width() const {
  if (!widths_.empty()) return widths_.at(0.5);
  return (widths_of_changes_.empty() ? heights_of_changes_ : widths_of_changes_).at(0.5);
}

int64_t Mover::height() const {
  if (!heights_.empty()) return heights_.at(0.5);
  return (heights_of_changes_.empty() ? widths_of_changes_ : heights_of_changes_).at(0.5);
}

void Mover::see(std::span<const std::byte> picture) {
  if (gave_up_) return;
  std::swap(last_, now_);
  now_.assign(picture.begin(), picture.end());
  before_ = at_;
  changed_ = false;
  if (background_.empty()) {
    background_ = now_;
    return;
  }
  ++steps_;
  if (now_ == last_) return;
  Box box;
  bool is_far = false;
  for (int64_t y = 0; y < rows_; ++y) {
    const auto line = y * columns_ * channels_, next = line + columns_ * channels_;
    if (std::equal(now_.begin() + line, now_.begin() + next, last_.begin() + line)) continue;
    for (int64_t x = 0; x < columns_; ++x) {
      if (!differ(now_, last_, x, y)) continue;
      if (is_found_ && !is_near(at_, x, y)) {
        is_far = true;
      } else {
        box.add(x, y);
      }
    }
  }
  if (!is_found_) {
    is_far = static_cast<double>(box.side()) > kWide * static_cast<double>(columns_);
  } else {
    changed_ = is_far || (changes_.size() >= kFewRanks &&
                          static_cast<double>(box.side()) >
                              kLonger * static_cast<double>(changes_.at(kLong)));
  }
  if (is_far && ++disturbed_ > 8 + steps_ / 20) gave_up_ = true;
  if (gave_up_) return;
  if (box.empty() || (is_far && !is_found_)) {
    last_change_ = {};
    return;
  }
  if (!changed_) {
    changes_.add(box.side());
    if (box.width() > box.height()) heights_of_changes_.add(box.height());
    if (box.height() > box.width()) widths_of_changes_.add(box.width());
  }
  if (!is_found_) find(box);
  if (!is_found_) return;
  Point point = follow(box);
  learn_background(point);
  measure(point);
  at_ = point;
}

// Where it was before is in what the last two steps changed.
void Mover::find(const Box& changed) {
  const Box both = changed.within(last_change_);
  last_change_ = changed;
  if (both.empty()) return;
  is_found_ = true;
  at_ = {static_cast<double>(both.x0 + both.x1) / 2, static_cast<double>(both.y0 + both.y1) / 2};
  before_ = start_ = at_;
}

// It is at that end of the change which is farther from where it was.
Point Mover::follow(const Box& changed) const {
  const auto along = [](double at, int64_t size, int64_t low, int64_t high) {
    const double half = static_cast<double>(size) / 2;
    const double down = at - half - static_cast<double>(low),
                 up = static_cast<double>(high) - (at + half);
    if (up > down && up > 0.5) return static_cast<double>(high) - half;
    if (down > up && down > 0.5) return static_cast<double>(low) + half;
    return at;
  };
  return {along(at_.x, width(), changed.x0, changed.x1),
          along(at_.y, height(), changed.y0, changed.y1)};
}

// What is not near it is background. Where it leaves a trail, pictures do not come again.
void Mover::learn_background(Point point) {
  bool reveals = false;
  for (int64_t y = 0; y < rows_; ++y) {
    const auto line = y * columns_ * channels_, next = line + columns_ * channels_;
    if (std::equal(now_.begin() + line, now_.begin() + next, background_.begin() + line)) continue;
    for (int64_t x = 0; x < columns_; ++x) {
      if (is_near(point, x, y) || !differ(now_, background_, x, y)) continue;
      reveals = true;
      const auto first = (y * columns_ + x) * channels_;
      std::copy_n(now_.begin() + first, channels_, background_.begin() + first);
    }
  }
  if (!has_left_) {
    has_left_ = std::max(std::abs(point.x - start_.x), std::abs(point.y - start_.y)) >
                reach_ + static_cast<double>(std::min(rows_, columns_)) / 8;
  } else if (reveals && ++revealed_ > 12 + steps_ / 5) {
    gave_up_ = true;
  }
}

void Mover::measure(Point& point) {
  is_measured_ = false;
  if (!has_left_) return;
  Box own;
  const auto low = [&](double at) { return std::max<int64_t>(0, std::lround(at - reach_)); };
  const auto high = [&](double at, int64_t most) {
    return std::min<int64_t>(most, std::lround(at + reach_));
  };
  for (int64_t y = low(point.y); y < high(point.y, rows_); ++y) {
    for (int64_t x = low(point.x); x < high(point.x, columns_); ++x) {
      if (differ(now_, background_, x, y)) own.add(x, y);
    }
  }
  const auto is_as_usual = [](const Ranks& usual, int64_t found) {
    return usual.size() < kFewRanks ||
           static_cast<double>(found) <= kLarger * static_cast<double>(usual.at(0.5)) + 1;
  };
  if (own.empty() || static_cast<double>(own.side()) > 1.6 * reach_ ||
      !is_as_usual(widths_, own.width()) || !is_as_usual(heights_, own.height())) {
    return;
  }
  is_measured_ = true;
  if (!changed_) {
    widths_.add(own.width());
    heights_.add(own.height());
  }
  point = {static_cast<double>(own.x0 + own.x1) / 2, static_cast<double>(own.y0 + own.y1) / 2};
}

}  // namespace agora::agents
