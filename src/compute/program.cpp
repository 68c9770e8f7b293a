#include "compute/program.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "compute/backend.h"
#include "compute/plan.h"

namespace agora::compute {
namespace {

int64_t count_steps(const std::vector<Step>& steps) {
  int64_t count = 0;
  for (const Step& step : steps) count += 1 + count_steps(step.body);
  return count;
}

}  // namespace

struct Program::State {
  struct Declared {  // an input of the graph, also where the plan does not need it
    std::string name;
    Shape shape;
    Storage storage = Storage::kReal;
    int64_t index = -1;  // in the plan
    bool given = false;
  };
  Type type{};
  Device device{};
  Plan plan;
  std::unique_ptr<Executor> executor;
  std::vector<Declared> inputs;
  int64_t capacity = 0;
  int64_t rows = 0;

  Declared& input(std::string_view name) {
    for (Declared& it : inputs) {
      if (it.name == name) return it;
    }
    std::vector<std::string> names;
    for (const Declared& it : inputs) names.push_back(it.name);
    throw user_error("the program has no input '{}'{}", name, suggestion(name, names));
  }

  size_t output(std::string_view name) const {
    for (size_t k = 0; k < plan.outputs.size(); ++k) {
      if (plan.outputs[k].name == name) return k;
    }
    std::vector<std::string> names;
    for (const PlannedOutput& it : plan.outputs) names.push_back(it.name);
    throw user_error("the program has no output '{}'{}", name, suggestion(name, names));
  }

  int64_t count(size_t index) const {
    const Shape& shape = plan.outputs[index].shape;
    return feature_count(shape) * (is_row_local(shape) ? rows : 1);
  }

  template <typename T>
  void set(std::string_view name, std::span<const T> values) {
    Declared& it = input(name);
    const int64_t features = feature_count(it.shape), found = static_cast<int64_t>(values.size());
    if (!is_row_local(it.shape)) {
      if (found != features) {
        throw user_error("input '{}' of shape {} takes {} values, found {}", name,
                         to_string(it.shape), features, found);
      }
    } else {
      if (found == 0) throw user_error("input '{}': the batch is empty", name);
      if (found % features != 0 || found / features > capacity) {
        throw user_error("input '{}' of shape {} takes up to {} rows of {} values, found {} values",
                         name, to_string(it.shape), capacity, features, found);
      }
      rows = found / features;
    }
    const bool bytes = it.storage == Storage::kByte && is_row_local(it.shape);
    if (bytes != std::is_same_v<T, uint8_t> && it.storage == Storage::kByte) {
      throw user_error("input '{}' takes bytes", name);
    }
    it.given = true;
    if (it.index >= 0) executor->set(static_cast<size_t>(it.index), values);
  }

  // `give(input of the plan, features)` where the plan has the input.
  template <typename Give>
  void set_rows(std::string_view name, int64_t bytes, std::span<const int32_t> chosen,
                const Give& give) {
    Declared& it = input(name);
    CHECK(it.storage == Storage::kByte && is_row_local(it.shape), "'{}' has no rows of bytes",
          name);
    const int64_t features = feature_count(it.shape), found = static_cast<int64_t>(chosen.size());
    const int64_t there = bytes / features;
    CHECK(found > 0 && found <= capacity, "'{}': {} rows, planned for {}", name, found, capacity);
    CHECK(std::all_of(chosen.begin(), chosen.end(),
                      [&](int32_t row) { return row >= 0 && row < there; }),
          "'{}': a row that a table of {} does not have", name, there);
    rows = found;
    it.given = true;
    if (it.index >= 0) give(static_cast<size_t>(it.index), features);
  }

  void bind(std::string_view name, DeviceArray& array) {
    CHECK(array.type() == type && array.device() == device, "'{}': an array of another kind", name);
    const auto fits = [&](const Shape& shape) {
      const int64_t count = feature_count(shape) * (is_row_local(shape) ? capacity : 1);
      CHECK(array.count() == count, "'{}' has {} values, the array {}", name, count, array.count());
    };
    for (size_t k = 0; k < plan.outputs.size(); ++k) {
      if (plan.outputs[k].name != name) continue;
      CHECK(is_row_local(plan.outputs[k].shape), "output '{}' has no rows", name);
      fits(plan.outputs[k].shape);
      return executor->bind_output(k, array);
    }
    Declared& it = input(name);
    CHECK(it.storage == Storage::kReal, "input '{}' takes no reals", name);
    fits(it.shape);
    it.given = true;
    if (it.index >= 0) executor->bind_input(static_cast<size_t>(it.index), array);
  }

  template <typename T>
  void read(std::string_view name, std::span<T> values) const {
    const size_t index = output(name);
    if (static_cast<int64_t>(values.size()) != count(index)) {
      throw user_error("output '{}' of shape {} has {} values, asked for {}", name,
                       to_string(plan.outputs[index].shape), count(index), values.size());
    }
    executor->read(index, values);
  }
};

Program::Program(const Graph& graph, Variables& variables, const Computation& task,
                 const CompileOptions& options)
    : state_(std::make_unique<State>()) {
  if (options.rows < 1)
    throw user_error("a program needs at least one row, found {}", options.rows);
  State& state = *state_;
  state.capacity = state.rows = options.rows;
  state.type = variables.type();
  state.device = variables.device();
  const Backend& device = backend(variables.device());
  PlanRequest request{.simplify = options.simplify, .limits = device.limits, .rows = options.rows};
  if (state.type == Type::kFloat64) {
    request.limits.images = false;
    request.limits.few_rows = 0;
  }
  for (const Output& output : task.outputs) {
    CHECK(output.value.graph == &graph, "output '{}' is of another graph", output.name);
    request.outputs.emplace_back(output.name, output.value.id);
  }
  for (const Update& update : task.updates) {
    CHECK(update.variable.graph == &graph && update.value.graph == &graph, "two graphs");
    if (update.variable.node().op != Op::kVariable) {
      throw user_error("{} cannot be assigned to", graph.describe(update.variable.id));
    }
    if (update.variable.shape() != update.value.shape()) {
      throw user_error("update of '{}': shapes {} and {} differ", update.variable.node().name,
                       to_string(update.variable.shape()), to_string(update.value.shape()));
    }
    request.updates.emplace_back(update.variable.id, update.value.id);
  }
  state.plan = make_plan(graph, request);
  for (const PlannedVariable& it : state.plan.variables) {
    if (is_row_local(it.shape) && variables.rows() < options.rows) {
      throw user_error("variable '{}' holds {} rows, the program runs up to {}", it.name,
                       variables.rows(), options.rows);
    }
  }
  for (int32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.op != Op::kInput) continue;
    State::Declared it{node.name, node.shape, node.storage};
    for (size_t k = 0; k < state.plan.inputs.size(); ++k) {
      if (state.plan.inputs[k].name == node.name) it.index = static_cast<int64_t>(k);
    }
    state.inputs.push_back(std::move(it));
  }
  state.executor = device.make_executor(state.plan, variables,
                                        {options.rows, options.cpu, options.short_products});
}

Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

void Program::set(std::string_view input, std::span<const float> values) {
  state_->set(input, values);
}
void Program::set(std::string_view input, std::span<const double> values) {
  state_->set(input, values);
}
void Program::set(std::string_view input, std::span<const int32_t> values) {
  state_->set(input, values);
}
void Program::set(std::string_view input, std::span<const uint8_t> values) {
  state_->set(input, values);
}
void Program::set(std::string_view input, double value) {
  state_->set(input, std::span<const double>(&value, 1));
}

void Program::set_rows(std::string_view input, std::span<const uint8_t> table,
                       std::span<const int32_t> chosen) {
  state_->set_rows(input, std::ssize(table), chosen, [&](size_t index, int64_t features) {
    state_->executor->set_rows(index, table, chosen, features);
  });
}
void Program::set_rows(std::string_view input, const ByteRows& table,
                       std::span<const int32_t> chosen) {
  CHECK(table.device() == state_->device, "'{}': a table of another device", input);
  state_->set_rows(
      input, table.rows() * table.bytes(), chosen, [&](size_t index, int64_t features) {
        CHECK(features == table.bytes(), "'{}': rows of {} bytes", input, table.bytes());
        state_->executor->set_rows(index, table.memory(), chosen, features);
      });
}

void Program::bind(std::string_view name, DeviceArray& array) { state_->bind(name, array); }

void Program::run(Check check) { repeat(1, check); }

void Program::repeat(int64_t times, Check check) {
  CHECK(times >= 1, "{} runs", times);
  State& state = *state_;
  for (const State::Declared& it : state.inputs) {
    if (it.index >= 0 && !it.given) throw user_error("input '{}' has not been set", it.name);
  }
  state.executor->repeat(state.rows, times);
  for (size_t k = 0; check == Check::kFinite && k < state.plan.outputs.size(); ++k) {
    const PlannedOutput& output = state.plan.outputs[k];
    if (!output.shape.empty()) continue;
    double value = state.executor->scalar(k);
    if (std::isfinite(value)) continue;
    if (std::isnan(value)) value = std::abs(value);  // a NaN has no sign worth printing
    const auto node = state.executor->first_non_finite(state.rows);
    throw NotFinite(fmt::format("output '{}' is {}: the first non-finite value is that of {}",
                                output.name, value,
                                node ? state.plan.graph->describe(*node) : "an input or variable"));
  }
  state.executor->commit(state.rows);
}

double Program::scalar(std::string_view output) const {
  const size_t index = state_->output(output);
  if (!state_->plan.outputs[index].shape.empty()) {
    throw user_error("output '{}' of shape {} is no scalar", output,
                     to_string(state_->plan.outputs[index].shape));
  }
  return state_->executor->scalar(index);
}

int64_t Program::count(std::string_view output) const {
  return state_->count(state_->output(output));
}
void Program::read(std::string_view output, std::span<float> values) const {
  state_->read(output, values);
}
void Program::read(std::string_view output, std::span<double> values) const {
  state_->read(output, values);
}

int64_t Program::memory_bytes() const { return state_->executor->memory_bytes(); }

int64_t Program::steps() const {
  int64_t count = 0;
  for (const Phase& phase : state_->plan.phases) {
    count += count_steps(phase.shared) + count_steps(phase.rows);
  }
  return count;
}

double Program::matmul_flops() const {
  return state_->plan.flops_per_row * static_cast<double>(state_->rows) + state_->plan.shared_flops;
}

std::string Program::listing() const { return to_string(state_->plan); }

}  // namespace agora::compute
