#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/signals.h"
#include "base/thread_pool.h"

namespace agora::planning {

inline constexpr int64_t kParts = 64;

// The larger of the two; a NaN stays.
inline double larger(double most, double x) { return x > most || x != x ? x : most; }

// For long loops: call it in each round; Ctrl-C ends the loop within a moment.
class Watch {
 public:
  void operator()() {
    if ((++rounds_ & 0xffff) == 0) throw_if_stopped();
  }

 private:
  uint32_t rounds_ = 0;
};

inline constexpr int64_t kFew = 512;  // states, whose work is done before others have woken up

template <typename Body>
void run_parts(int64_t total, Body&& body) {
  if (total > kFew) return default_pool().run(kParts, body);
  for (int64_t part = 0; part < kParts; ++part) body(part);
}

// body(begin, end) over [0, total) on the pool, in a fixed number of parts. This and those below
// end with Interrupted after Ctrl-C.
template <typename Body>
void in_parts(int64_t total, Body&& body) {
  throw_if_stopped();
  run_parts(total, [&](int64_t part) {
    const Range range = part_range(total, part, kParts);
    body(range.begin, range.end);
  });
}

// The largest of body(begin, end) over the parts; NaN if one is.
template <typename Body>
double max_over_parts(int64_t total, Body&& body) {
  throw_if_stopped();
  std::array<double, kParts> each{};
  run_parts(total, [&](int64_t part) {
    const Range range = part_range(total, part, kParts);
    each[static_cast<size_t>(part)] = range.begin < range.end ? body(range.begin, range.end) : 0.0;
  });
  double most = each[0];
  for (const double value : each) most = larger(most, value);
  return most;
}

// The sum of body(begin, end) over the parts, in their order.
template <typename Body>
double sum_over_parts(int64_t total, Body&& body) {
  throw_if_stopped();
  std::array<double, kParts> each{};
  run_parts(total, [&](int64_t part) {
    const Range range = part_range(total, part, kParts);
    each[static_cast<size_t>(part)] = range.begin < range.end ? body(range.begin, range.end) : 0.0;
  });
  double sum = 0.0;
  for (const double value : each) sum += value;
  return sum;
}

}  // namespace agora::planning
