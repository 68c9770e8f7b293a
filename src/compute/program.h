#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compute/cpu/options.h"
#include "compute/graph.h"
#include "compute/variables.h"

namespace agora::compute {

struct Output {
  std::string name;
  Tensor value;
};
struct Update {
  Tensor variable;
  Tensor value;
};

// What a program computes. All updates see the variables as they were before the run.
struct Computation {
  std::vector<Output> outputs;
  std::vector<Update> updates;
};

struct CompileOptions {
  int64_t rows = 0;  // the most rows of a run
  bool simplify = true;
  cpu::Options cpu = {};
  // A GPU may round the factors of products to half precision and take tanh and sigmoid to a few
  // units of 1e-7: for searches whose findings are judged by another program.
  bool short_products = false;
};

// Whether a run looks at its scalar outputs, for which a device has to wait for the end of it.
enum class Check : uint8_t { kFinite, kNothing };

// A run that gave a number that is not finite.
class NotFinite : public UserError {
 public:
  using UserError::UserError;
};

class Executor;

// A compiled graph on the device of its variables: all memory is planned and allocated when it is
// made, running allocates nothing. The bits of a result do not depend on the number of threads.
//
//   Variables variables(g);  variables.initialize(seed);
//   Program step(g, variables, {.outputs = {{"loss", loss}}, .updates = updates}, {.rows = 128});
//   step.set("bids", bids);
//   step.run();
//   double value = step.scalar("loss");
class Program {
 public:
  Program(const Graph& graph, Variables& variables, const Computation& task,
          const CompileOptions& options);
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  // Row-major values of an input; the number of rows decides that of the next run. Inputs that
  // were simplified away are accepted and ignored.
  void set(std::string_view input, std::span<const float> values);
  void set(std::string_view input, std::span<const double> values);
  void set(std::string_view input, std::span<const int32_t> values);
  void set(std::string_view input, std::span<const uint8_t> values);
  void set(std::string_view input, double value);  // a shared scalar
  // The same with rows `chosen` of a table of bytes, of which none is copied: both stay as they are
  // until the input is set again.
  void set_rows(std::string_view input, std::span<const uint8_t> table,
                std::span<const int32_t> chosen);

  void set_rows(std::string_view input, const ByteRows& table, std::span<const int32_t> chosen);

  // An input is what the array holds in every run from now on, or an output is written there: so
  // programs hand values to each other. The array outlives the program and has all its rows.
  void bind(std::string_view name, DeviceArray& array);

  // A scalar output that is checked and not finite is NotFinite and names the first non-finite
  // node; the variables keep the values they had before the run, as they do when a signal ends it
  // (Interrupted).
  void run(Check check = Check::kFinite);
  // The same so many times; what is checked is the last run, and what was before the first is gone.
  void repeat(int64_t times, Check check = Check::kFinite);

  double scalar(std::string_view output) const;
  int64_t count(std::string_view output) const;                       // values that read() gives
  void read(std::string_view output, std::span<float> values) const;  // row-major
  void read(std::string_view output, std::span<double> values) const;

  int64_t steps() const;  // instructions after fusion, for tests and curiosity
  int64_t memory_bytes() const;
  double matmul_flops() const;  // of one run: what arithmetic is needed after simplification
  std::string listing() const;  // the plan, readable

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace agora::compute
