#include "report/run_metrics.h"

namespace agora::report {
namespace {

int64_t resumed_from(const RunFolder& folder) {
  const std::optional<Checkpoint> checkpoint = folder.latest();
  return checkpoint ? checkpoint->step : -1;
}

}  // namespace

RunMetrics::RunMetrics(RunFolder& folder)
    : folder_(folder), events_(folder.path(), resumed_from(folder)) {}

void RunMetrics::record(int64_t step, std::string_view name, double value) {
  folder_.metrics().record(step, name, value);
  events_.record(step, name, value);
}

void RunMetrics::flush() {
  folder_.metrics().flush();
  events_.flush();
}

}  // namespace agora::report
