#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "agents/space.h"

namespace agora::agents {

// Some numbers in rising order.
class Ranks {
 public:
  void add(int64_t number);
  bool empty() const { return numbers_.empty(); }
  size_t size() const { return numbers_.size(); }
  int64_t at(double share) const;  // a quantile; 0 of none

 private:
  std::vector<int64_t> numbers_;
};

// The pixels from `x0` and `y0` on, before `x1` and `y1`.
struct Box {
  int64_t x0 = INT32_MAX, y0 = INT32_MAX, x1 = INT32_MIN, y1 = INT32_MIN;

  void add(int64_t x, int64_t y) {
    x0 = std::min(x0, x), x1 = std::max(x1, x + 1);
    y0 = std::min(y0, y), y1 = std::max(y1, y + 1);
  }
  bool empty() const { return x1 <= x0 || y1 <= y0; }
  int64_t width() const { return empty() ? 0 : x1 - x0; }
  int64_t height() const { return empty() ? 0 : y1 - y0; }
  int64_t side() const { return std::max(width(), height()); }  // the longer one
  Box within(const Box& other) const {
    return {std::max(x0, other.x0), std::max(y0, other.y0), std::min(x1, other.x1),
            std::min(y1, other.y1)};
  }
};

struct Point {
  double x = 0, y = 0;
};

// Follows the one thing that moves through an episode's pictures, in front of what stays.
class Mover {
 public:
  explicit Mover(const ObservationSpace& space);  // of pictures, in bytes

  void see(std::span<const std::byte> picture);
  bool gave_up() const { return gave_up_; }  // there is more that moves, for the whole episode
  bool is_found() const { return is_found_; }
  bool is_measured() const { return is_measured_; }  // against the background, to half a pixel
  Point at() const { return at_; }                   // its middle
  Point before() const { return before_; }
  bool has_moved() const;                          // since the last picture, by a pixel or more
  bool world_changed() const { return changed_; }  // something else did
  double size() const { return static_cast<double>(std::max(width(), height())); }

 private:
  bool differ(const std::vector<std::byte>& a, const std::vector<std::byte>& b, int64_t x,
              int64_t y) const;
  bool is_near(Point point, int64_t x, int64_t y) const;
  int64_t width() const;
  int64_t height() const;
  void find(const Box& changed);
  Point follow(const Box& changed) const;
  void learn_background(Point point);
  void measure(Point& point);

  int64_t rows_, columns_, channels_;
  double reach_;  // of a step, in pixels
  bool gave_up_ = false, is_found_ = false, is_measured_ = false, changed_ = false;
  Point at_, before_, start_;
  bool has_left_ = false;  // the start, whose background is known since
  std::vector<std::byte> now_, last_, background_;
  Box last_change_;
  Ranks changes_;                                 // longer sides of what steps changed
  Ranks widths_, heights_;                        // as measured
  Ranks widths_of_changes_, heights_of_changes_;  // of those that are longer the other way
  int64_t steps_ = 0, disturbed_ = 0, revealed_ = 0;
};

}  // namespace agora::agents
