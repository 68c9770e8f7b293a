#include "report/run_metrics.h"

namespace agora::report {

void RunMetrics::record(int64_t step, std::string_view name, double value) {
  if (!events_) {
    events_.emplace(folder_.path(), folder_.saved_step());
    events_->hyperparameters(folder_.settings());
  }
  folder_.metrics().record(step, name, value);
  events_->record(step, name, value);
}

void RunMetrics::flush() {
  folder_.metrics().flush();
  if (events_) events_->flush();
}

}  // namespace agora::report
