#pragma once
#include <string>
#include <vector>

#include "report/chart.h"

namespace agora::report {

// Whether a value has a place in a picture: finite and of a size that can be scaled.
bool drawable(double value, bool log = false);

// The range of the drawable values seen so far.
struct Extent {
  double low = 0, high = 0;
  bool empty = true;
  bool whole = true;  // all of them are whole numbers
  void add(double value, bool log = false);
  void add(const std::vector<double>& values, bool log = false);
};

// Maps values to [0, 1] of an axis.
class AxisScale {
 public:
  AxisScale() = default;
  // Fixed ends of the axis win over the data; free ends get a margin of `padding` of the span.
  AxisScale(const Axis& axis, const Extent& data, double padding);

  double operator()(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }
  bool log() const { return log_; }
  bool whole() const { return whole_; }  // what is drawn is counted: ticks are whole numbers

 private:
  double low_ = 0, high_ = 1;
  bool log_ = false, whole_ = false;
};

struct Tick {
  double position;  // in [0, 1]
  std::string label;
};

// About `wanted` ticks at round values.
std::vector<Tick> ticks(const AxisScale& scale, int wanted);

}  // namespace agora::report
