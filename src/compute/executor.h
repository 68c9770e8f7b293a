#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/thread_pool.h"
#include "compute/plan.h"
#include "compute/variables.h"

namespace agora::compute {

struct ExecutorOptions {
  int64_t rows = 0;
  int64_t lanes = 0;
  int64_t parts = 0;
  ThreadPool* pool = nullptr;  // null: default_pool() at each run
};

// Runs a plan on a device. The plan and the variables outlive it.
class Executor {
 public:
  virtual ~Executor() = default;

  virtual void set(size_t input, std::span<const float> values) = 0;
  virtual void set(size_t input, std::span<const double> values) = 0;
  virtual void set(size_t input, std::span<const int32_t> values) = 0;
  virtual void set(size_t input, std::span<const uint8_t> values) = 0;

  // Computes outputs and the next values of variables; commit makes those the current ones.
  virtual void run(int64_t rows) = 0;
  virtual void commit(int64_t rows) = 0;
  // Runs again without commit, looking at every value: the first node that is not finite.
  virtual std::optional<int32_t> first_non_finite(int64_t rows) = 0;

  virtual double scalar(size_t output) const = 0;
  virtual void read(size_t output, std::span<float> values) const = 0;
  virtual void read(size_t output, std::span<double> values) const = 0;

  virtual int64_t lanes() const = 0;
  virtual int64_t memory_bytes() const = 0;
};

namespace cpu {
std::unique_ptr<Executor> make_executor(const Plan& plan, Variables& variables,
                                        const ExecutorOptions& options);
}

}  // namespace agora::compute
