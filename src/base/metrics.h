#pragma once
#include <cstdint>
#include <string_view>

namespace agora {

// Where a learner reports its numbers, without knowing who keeps them (a CSV file, TensorBoard
// events, a chart). Steps never decrease; the numbers of one step belong to one row.
class MetricsSink {
 public:
  virtual ~MetricsSink() = default;
  virtual void record(int64_t step, std::string_view name, double value) = 0;
  virtual void flush() {}
};

}  // namespace agora
