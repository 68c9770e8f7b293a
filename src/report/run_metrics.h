#pragma once
#include <optional>

#include "base/run_folder.h"
#include "report/tensorboard.h"

namespace agora::report {

// The numbers of a run, for its metrics.csv and, with its options, for TensorBoard; a file of
// events is begun with the first of them.
class RunMetrics : public MetricsSink {
 public:
  explicit RunMetrics(RunFolder& folder) : folder_(folder) {}
  void record(int64_t step, std::string_view name, double value) override;
  void flush() override;

 private:
  RunFolder& folder_;
  std::optional<TensorBoardEvents> events_;
};

}  // namespace agora::report
