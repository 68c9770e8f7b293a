#pragma once
// What the programs that time networks share: works by name, and the line protocol of
// bench/comparison.py.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "bench/program.h"
#include "compute/cpu/kernels.h"

namespace agora::bench {

// What a run found, for comparison with the peers; empty where nothing is compared.
using Answer = std::map<std::string, double>;

struct Work {
  std::function<Answer()> run;
  double flops = 0;   // of its matrix products; 0: not known
  double amount = 0;  // of what is counted per second: profiles, iterations
};
using Works = std::vector<std::pair<std::string, std::function<Work()>>>;

inline double now_ms() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(time).count();
}

// What the machine's matrix product reaches on operands in cache, all threads together.
inline double peak_gflops() {
  const int64_t size = 128, repetitions = 200;
  const int64_t parts = default_pool().threads();
  std::vector<float> memory(static_cast<size_t>(3 * size * size * parts), 0.5f);
  double best = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double start = now_ms();
    default_pool().run(parts, [&](int64_t part) {
      float* const a = memory.data() + part * 3 * size * size;
      const compute::cpu::TileMatmul<float> job{.x = a + size * size,
                                                .x_stride = size,
                                                .w = a,
                                                .w_in = 1,
                                                .w_out = size,
                                                .bias = nullptr,
                                                .y = a + 2 * size * size,
                                                .y_stride = size,
                                                .in = size,
                                                .out = size,
                                                .lanes = size,
                                                .activation = compute::cpu::Activation::kNone,
                                                .accumulate = false};
      for (int64_t k = 0; k < repetitions; ++k) compute::cpu::kernels<float>().matmul(job);
    });
    const double flops = 2.0 * size * size * size * static_cast<double>(repetitions * parts);
    best = std::max(best, flops / (now_ms() - start) / 1e6);
  }
  return best;
}

inline Work make_work(const Works& works, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, make] : works) {
    if (known == name) return make();
    names.push_back(known);
  }
  throw user_error("unknown work '{}'{}", name, suggestion(name, names));
}

struct Times {
  std::vector<double> ms, cpu_ms;  // of the clock, and of all threads together
};

inline Times time_work(const Work& work, int64_t repetitions) {
  Times times;
  for (int64_t k = 0; k < repetitions; ++k) {
    const double start = now_ms();
    const std::clock_t cpu_start = std::clock();
    work.run();
    times.cpu_ms.push_back(1e3 * static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
    times.ms.push_back(now_ms() - start);
  }
  return times;
}

// Answers each line `WORK REPS` by one line of JSON. A work is made at its first line and run twice
// before it is timed; `answers` are what these two runs found.
inline void serve(const Works& works) {
  struct Made {
    Work work;
    std::string answers;
  };
  std::map<std::string, Made> made;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    int64_t repetitions = 1;
    words >> name >> repetitions;
    if (name == "peak") {
      fmt::print("{{\"work\": \"peak\", \"gflops\": {}}}\n", peak_gflops());
      std::fflush(stdout);
      continue;
    }
    auto known = made.find(name);
    if (known == made.end()) {
      known = made.emplace(name, Made{make_work(works, name), ""}).first;
      for (int k = 0; k < 2; ++k) {
        std::string fields;
        for (const auto& [key, value] : known->second.work.run()) {
          fields += fmt::format("{}\"{}\": {}", fields.empty() ? "" : ", ", key, value);
        }
        known->second.answers += fmt::format("{}{{{}}}", k == 0 ? "" : ", ", fields);
      }
    }
    const auto& [work, answers] = known->second;
    const Times times = time_work(work, repetitions);
    fmt::print(
        "{{\"work\": \"{}\", \"ms\": [{}], \"cpu_ms\": [{}], \"flops\": {}, \"amount\": {}, "
        "\"answers\": [{}]}}\n",
        name, fmt::join(times.ms, ", "), fmt::join(times.cpu_ms, ", "), work.flops, work.amount,
        answers);
    std::fflush(stdout);
  }
}

// Each work for about a second, those named or all.
inline void print_all(const Works& works, std::vector<std::string> names) {
  if (names.empty()) {
    for (const auto& [name, make] : works) names.push_back(name);
  }
  const double peak = peak_gflops();
  fmt::print("{} threads, matmul peak {:.1f} GFLOP/s\n", default_pool().threads(), peak);
  for (const std::string& name : names) {
    const Work work = make_work(works, name);
    const double first = time_work(work, 1).ms[0];
    std::vector<double> times =
        time_work(work, std::clamp<int64_t>(int64_t(1000 / first), 3, 300)).ms;
    std::sort(times.begin(), times.end());
    const double ms = times[times.size() / 2];
    fmt::print("{:24} {:9.3f} ms", name, ms);
    if (work.amount > 0) fmt::print("  {:12.1f} /s", 1e3 * work.amount / ms);
    if (work.flops > 0) {
      const double gflops = work.flops / ms / 1e6;
      fmt::print("  {:7.1f} GFLOP/s  {:4.0f} % of peak", gflops, 100 * gflops / peak);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
}

inline void answer(const Works& works, const Asked& asked) {
  if (asked.serve) return serve(works);
  print_all(works, asked.works);
}

}  // namespace agora::bench
