// The C++ side of tests/scripts/read_events.py: writes known scalars and options into a folder,
// the last ones by a second writer that resumes after step 60.
#include <cmath>
#include <filesystem>
#include <limits>

#include "report/tensorboard.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::filesystem::path folder = argv[1];
  {
    agora::report::TensorBoardEvents events(folder);
    events.hyperparameters({{"verb", "auction train"}, {"rate", 1e-3}, {"bayesian", true}});
    for (int64_t step = 0; step <= 100; ++step) {
      events.record(step, "revenue", std::sqrt(static_cast<double>(step)));
      events.record(step, "regret/größe <max>", step > 60 ? -1.0 : 1.0 / (1.0 + step));
    }
    events.record(int64_t{1} << 40, "far", 1e30);
    events.record(1, "nan", std::numeric_limits<double>::quiet_NaN());
  }
  agora::report::TensorBoardEvents events(folder, 60);
  events.hyperparameters({{"verb", "auction train"}, {"rate", 1e-3}, {"bayesian", true}});
  for (int64_t step = 61; step <= 120; ++step)
    events.record(step, "regret/größe <max>", 1.0 / (1.0 + step));
}
