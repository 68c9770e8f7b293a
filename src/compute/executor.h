#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/cpu/options.h"
#include "compute/device_array.h"
#include "compute/plan.h"
#include "compute/variables.h"

namespace agora::compute {

struct ExecutorOptions {
  int64_t rows = 0;
  cpu::Options cpu = {};
  bool short_products = false;
};

// Runs a plan on a device. The plan and the variables outlive it.
class Executor {
 public:
  virtual ~Executor() = default;

  virtual void set(size_t input, std::span<const float> values) = 0;
  virtual void set(size_t input, std::span<const double> values) = 0;
  virtual void set(size_t input, std::span<const int32_t> values) = 0;
  virtual void set(size_t input, std::span<const uint8_t> values) = 0;
  // Rows of a table of bytes; both spans stay where they are until the input is set again.
  virtual void set_rows(size_t input, std::span<const uint8_t> table,
                        std::span<const int32_t> chosen, int64_t features) {
    std::vector<uint8_t> rows;
    for (const int64_t row : chosen) {
      rows.insert(rows.end(), table.begin() + row * features, table.begin() + (row + 1) * features);
    }
    set(input, std::span<const uint8_t>(rows));
  }
  // The same of a table in the memory of the device.
  virtual void set_rows(size_t input, const DeviceMemory& table, std::span<const int32_t> chosen,
                        int64_t features) = 0;
  // From now on the input is what the array holds, the output is written there.
  virtual void bind_input(size_t input, const DeviceArray& array) = 0;
  virtual void bind_output(size_t output, DeviceArray& array) = 0;

  // Computes outputs and the next values of variables; commit makes those the current ones.
  virtual void run(int64_t rows) = 0;
  // Runs and commits so often, but for the last commit.
  virtual void repeat(int64_t rows, int64_t times) {
    for (int64_t k = 1; k < times; ++k) {
      run(rows);
      commit(rows);
    }
    run(rows);
  }
  virtual void commit(int64_t rows) = 0;
  // Runs again without commit, looking at every value: the first node that is not finite.
  virtual std::optional<int32_t> first_non_finite(int64_t rows) = 0;

  virtual double scalar(size_t output) const = 0;
  virtual void read(size_t output, std::span<float> values) const = 0;
  virtual void read(size_t output, std::span<double> values) const = 0;

  virtual int64_t memory_bytes() const = 0;
};

// The first input or variable of the graph that is not finite, or -1; told of each, by its place in
// the plan, whether it is. Bytes always are.
int32_t non_finite_source(const Plan& plan, const std::function<bool(size_t)>& input_is_finite,
                          const std::function<bool(size_t)>& variable_is_finite);

}  // namespace agora::compute
