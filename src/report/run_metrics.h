#pragma once
#include "base/run_folder.h"
#include "report/tensorboard.h"

namespace agora::report {

// The numbers of a run, for its metrics.csv and for TensorBoard.
class RunMetrics : public MetricsSink {
 public:
  explicit RunMetrics(RunFolder& folder);
  void record(int64_t step, std::string_view name, double value) override;
  void flush() override;

 private:
  RunFolder& folder_;
  TensorBoardEvents events_;
};

}  // namespace agora::report
