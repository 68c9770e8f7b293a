// What a run of the thread pool costs beside the work: back to back, after a pause in which its
// threads fall asleep, and while other processes want the cores.
//
//   bench_pool [--benchmark_filter=NAME]
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "base/thread_pool.h"

namespace agora::bench {
namespace {

constexpr int64_t kParts = 16;

// Processes that never wait, one per core.
class Competitors {
 public:
  explicit Competitors(int count) {
    for (int i = 0; i < count; ++i) {
      children_.push_back(fork());
      if (children_.back() == 0) {
        for (uint64_t busy = 0;; ++busy) benchmark::DoNotOptimize(busy);
      }
    }
  }
  ~Competitors() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
  }

 private:
  std::vector<pid_t> children_;
};

// About a microsecond of arithmetic.
constexpr auto kWork = [](int64_t part) {
  double value = static_cast<double>(part);
  for (int i = 0; i < 400; ++i) value = value * 0.999 + 1;
  benchmark::DoNotOptimize(value);
};

void runs(benchmark::State& state, int competitors) {
  const Competitors others(competitors);
  ThreadPool pool(hardware_threads());
  for (auto _ : state) pool.run(kParts, kWork);
}
void idle(benchmark::State& state) { runs(state, 0); }
void competing(benchmark::State& state) { runs(state, hardware_threads()); }

void asleep(benchmark::State& state) {
  ThreadPool pool(hardware_threads());
  for (auto _ : state) {
    state.PauseTiming();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    state.ResumeTiming();
    pool.run(kParts, kWork);
  }
}

BENCHMARK(idle)->UseRealTime();
BENCHMARK(asleep)->UseRealTime()->Iterations(500);
BENCHMARK(competing)->UseRealTime();

}  // namespace
}  // namespace agora::bench

BENCHMARK_MAIN();
