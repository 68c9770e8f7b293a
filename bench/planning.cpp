// Times the planner's works. `--serve` answers lines `WORK REPS` with one line of JSON each, for
// bench/compare planning; otherwise the works named on the command line are run once.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "base/thread_pool.h"
#include "bench/program.h"
#include "planning/model/parts.h"
#include "planning/models/benchmark_walls.h"
#include "planning/optimum/bellman.h"
#include "planning/solver.h"

namespace agora::planning {
namespace {

struct Result {
  double seconds = 0.0;
  double bytes = 0.0;  // moved per sweep at least; 0: not a sweep
  double states = 0.0;
  double sweeps = 0.0;
  double residual = 0.0;
  double bound = 0.0;
};

double seconds_of(const std::function<void()>& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

const Model& grid(int32_t n) {
  static std::map<int32_t, std::unique_ptr<Model>> made;
  auto& model = made[n];
  if (!model) model = std::make_unique<Model>(benchmark_grid(n));
  return *model;
}

// 1M states, 4 actions, 4 successors within +-1000 of the state.
const Model& banded_model() {
  static const Model model = [] {
    constexpr State kStates = 1'000'000;
    std::vector<uint32_t> begin{0};
    std::vector<State> next;
    std::vector<double> probability, reward;
    for (State s = 0; s < kStates; ++s) {
      Rng rng(1, 0, 0, static_cast<uint32_t>(s));
      for (Action a = 0; a < 4; ++a) {
        for (int i = 0; i < 4; ++i) {
          const State to = s - 1000 + static_cast<State>(rng.below(2001));
          next.push_back(std::clamp(to, 0, kStates - 1));
          probability.push_back(0.25);
          reward.push_back(rng.uniform());
        }
        begin.push_back(static_cast<uint32_t>(next.size()));
      }
    }
    Model made = Model::stochastic(4, std::move(begin), std::move(next), std::move(probability),
                                   Rewards(std::move(reward)));
    made.set_discount(0.99);
    return made;
  }();
  return model;
}

Result solved(const Model& model, const std::string& method, SolveOptions options) {
  Solution solution = solve(model, method, options);
  return {.seconds = solution.seconds,
          .bytes = 0.0,
          .states = static_cast<double>(model.states()),
          .sweeps = static_cast<double>(solution.sweeps),
          .residual = solution.residual,
          .bound = solution.bound};
}

Result z(int32_t n, double beta, double mu) {
  return solved(grid(n), "z", {.beta = beta, .mu = mu, .tolerance = 1e-4});
}

// One synchronous sweep, as `vi` does it. bytes_per_state: what must be read and written.
Result sweep(const Model& model, double bytes) {
  constexpr int kSweeps = 20;
  std::vector<double> value(static_cast<size_t>(model.states()), 0.0), next = value;
  double seconds = 0.0;
  with_rows(model, 0.99, [&](const auto& rows) {
    seconds = seconds_of([&] {
      for (int k = 0; k < kSweeps; ++k) {
        optimality_sweep(rows, value.data(), next.data());
        std::swap(value, next);
      }
    });
  });
  return {.seconds = seconds / kSweeps,
          .bytes = bytes,
          .states = static_cast<double>(model.states()),
          .sweeps = 1};
}

// a = b + s c over arrays much larger than the caches.
Result triad() {
  constexpr int64_t kSize = 20'000'000;
  static std::vector<double> a(kSize, 0.0), b(kSize, 1.0), c(kSize, 2.0);
  double best = INFINITY;
  for (int k = 0; k < 5; ++k) {
    best = std::min(best, seconds_of([&] {
                      in_parts(kSize, [&](int64_t from, int64_t until) {
                        for (int64_t i = from; i < until; ++i) {
                          a[static_cast<size_t>(i)] =
                              b[static_cast<size_t>(i)] + 3.0 * c[static_cast<size_t>(i)];
                        }
                      });
                    }));
  }
  return {.seconds = best, .bytes = 24.0 * kSize};
}

Result run(const std::string& work) {
  const auto number = [&](size_t at) { return std::stoi(work.substr(at)); };
  if (work == "triad") return triad();
  if (work == "vi-sync") return solved(grid(1000), "vi", {.tolerance = 1e-4});
  if (work == "vi-gauss-seidel") return solved(grid(1000), "vi-gauss-seidel", {.tolerance = 1e-4});
  if (work == "vi-sweep") {
    const Model& model = grid(1000);  // successors read, values read and written
    return sweep(model, model.states() * (16.0 + 8.0 + 8.0));
  }
  if (work == "csr-sweep") {
    const Model& model = banded_model();  // entries, row ends, mean rewards, values
    return sweep(model, static_cast<double>(model.transitions()) * 12.0 +
                            4.0 * model.states() * (4.0 + 8.0) + model.states() * 16.0);
  }
  if (work == "z-beta1") return z(1000, 1.0, -1.5);
  if (work == "z-beta.1") return z(1000, 0.1, -1.4);
  if (work == "z-beta0") return z(1000, 0.0, -1.39);
  if (work == "z-5000") return z(5000, 1.0, -1.5);
  if (work.starts_with("z-side-")) return z(number(7), 1.0, -1.5);
  throw user_error("unknown work '{}'", work);
}

void answer(const std::string& work, int reps) {
  std::string times;
  Result result;
  for (int k = 0; k < reps; ++k) {
    result = run(work);
    times += fmt::format("{}{:.4f}", k == 0 ? "" : ", ", 1e3 * result.seconds);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{{\"work\": \"{}\", \"ms\": [{}], \"bytes\": {:.0f}, \"states\": {:.0f}, \"sweeps\": "
      "{:.0f}, "
      "\"residual\": {:.3g}, \"bound\": {:.3g}, \"peak_mib\": {:.0f}}}\n",
      work, times, result.bytes, result.states, result.sweeps, result.residual, result.bound,
      static_cast<double>(usage.ru_maxrss) / 1024.0);
  std::fflush(stdout);
}

}  // namespace
}  // namespace agora::planning

int main(int count, char** arguments) {
  using namespace agora;
  return bench::run_program(
      count, arguments, [](agora::cli::OptionList&) {},
      [](const bench::Asked& asked) {
        for (const std::string& work : asked.works) planning::answer(work, 1);
        std::string work;
        for (int reps; asked.serve && std::cin >> work >> reps;) planning::answer(work, reps);
      });
}
