#include "compute/cpu/executor.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/error.h"
#include "base/signals.h"
#include "compute/backend.h"
#include "compute/cpu/elementwise.h"
#include "compute/cpu/kernels.h"
#include "compute/cpu/shared_steps.h"
#include "compute/cpu/tile_steps.h"
#include "compute/memory_block.h"

namespace agora::compute::cpu {
namespace {

constexpr int64_t kTileBytes = 2 << 20;  // what a tile may touch: measured, wide lanes beat L2
constexpr int64_t kMaxParts = 8;

int64_t choose_lanes(const Plan& plan, int64_t rows, int64_t width) {
  for (const int64_t lanes : {64, 32}) {
    const bool fits = plan.scratch_features * lanes * width <= kTileBytes;
    if (fits && rows >= 2 * lanes) return lanes;
  }
  return kLaneStep;
}

template <typename Real>
class CpuExecutor final : public Executor {
 public:
  CpuExecutor(const Plan& plan, Variables& variables, const ExecutorOptions& options)
      : plan_(plan), variables_(variables), capacity_(options.rows) {
    given_pool_ = options.cpu.pool;
    lanes_ =
        options.cpu.lanes > 0 ? options.cpu.lanes : choose_lanes(plan, capacity_, sizeof(Real));
    CHECK(lanes_ % kLaneStep == 0, "{} lanes", lanes_);
    tiles_ = (capacity_ + lanes_ - 1) / lanes_;
    parts_ = std::min(tiles_, options.cpu.parts > 0 ? options.cpu.parts : kMaxParts);
    allocate();
    for (const Phase& phase : plan.phases) {
      CompiledPhase it;
      it.shared = std::make_unique<SharedSteps<Real>>(plan, phase);
      it.rows = compile(phase.rows);
      phases_.push_back(std::move(it));
    }
    workers_ = std::make_unique<Worker[]>(static_cast<size_t>(parts_));
    for (int64_t k = 0; k < parts_; ++k) {
      workers_[static_cast<size_t>(k)].memory =
          MemoryBlock((plan.scratch_features * lanes_ + workspace_ + kRegisters * kChunk) *
                          static_cast<int64_t>(sizeof(Real)),
                      "the tiles of a program");
    }
  }

  void set(size_t input, std::span<const float> values) override { assign(input, values); }
  void set(size_t input, std::span<const double> values) override { assign(input, values); }
  void set(size_t input, std::span<const int32_t> values) override { assign(input, values); }
  void set(size_t input, std::span<const uint8_t> values) override {
    if (host_inputs_[input].bytes != nullptr) {
      uint8_t* const own = input_memory_[input].template as<uint8_t>();
      std::copy(values.begin(), values.end(), own);
      host_inputs_[input].bytes = own;
      host_inputs_[input].chosen = nullptr;
    } else {
      assign(input, values);
    }
  }

  void set_rows(size_t input, std::span<const uint8_t> table, std::span<const int32_t> chosen,
                int64_t) override {
    host_inputs_[input].bytes = table.data();
    host_inputs_[input].chosen = chosen.data();
    host_inputs_[input].chosen_count = static_cast<int64_t>(chosen.size());
  }
  void set_rows(size_t input, const DeviceMemory& table, std::span<const int32_t> chosen,
                int64_t features) override {
    set_rows(input, std::span<const uint8_t>(table.as<uint8_t>(), 0), chosen, features);
  }

  void bind_input(size_t input, const DeviceArray& array) override {
    if (is_row_local(plan_.inputs[input].shape)) {
      host_inputs_[input].values = array.as<Real>();
    } else {
      copied_.emplace_back(input, array.as<Real>());
    }
  }
  void bind_output(size_t output, DeviceArray& array) override {
    outputs_[output] = array.as<Real>();
  }

  void run(int64_t rows) override { execute(rows, nullptr); }

  std::optional<int32_t> first_non_finite(int64_t rows) override {
    int32_t node = source_of_non_finite(rows);
    if (node < 0) execute(rows, &node);
    if (node < 0) return std::nullopt;
    return node;
  }

  void commit(int64_t rows) override {
    for (size_t k = 0; k < plan_.variables.size(); ++k) {
      const PlannedVariable& it = plan_.variables[k];
      if (!it.updated) continue;
      if (is_row_local(it.shape) && rows < variables_.rows()) {  // rows that did not take part
        const int64_t done = rows * feature_count(it.shape);
        const Variables::Entry& entry = variables_.entry(entry_[k]);
        std::copy(current_[k] + done, current_[k] + entry.count, next_[k] + done);
      }
      variables_.commit(entry_[k]);
    }
  }

  double scalar(size_t output) const override {
    return static_cast<double>(*shared_output(output));
  }
  void read(size_t output, std::span<float> values) const override { give(output, values); }
  void read(size_t output, std::span<double> values) const override { give(output, values); }

  int64_t memory_bytes() const override {
    int64_t bytes = shared_.bytes() + kept_.bytes() + partial_.bytes();
    for (const MemoryBlock& it : input_memory_) bytes += it.bytes();
    for (const MemoryBlock& it : output_memory_) bytes += it.bytes();
    for (int64_t k = 0; k < parts_; ++k) bytes += workers_[static_cast<size_t>(k)].memory.bytes();
    return bytes;
  }

 private:
  struct RowStep {
    StepKind kind = StepKind::kOperation;
    int32_t node = -1;
    std::unique_ptr<Group<Real>> group;
    std::unique_ptr<Runnable<Real>> operation;
    Place place;  // of a load, a store or a loop counter
    int64_t features = 0;
    std::vector<int64_t> offsets;  // of a store
    int32_t index = -1;
    bool variable = false;
    int64_t times = 1;
    std::vector<RowStep> body;
    std::vector<std::pair<Place, std::vector<int64_t>>> checked;  // results, for checking mode
  };
  struct CompiledPhase {
    std::unique_ptr<SharedSteps<Real>> shared;
    std::vector<RowStep> rows;
  };
  struct Worker {
    MemoryBlock memory;
    std::atomic<bool> busy{false};
  };

  struct Lease {  // gives the memory back, also when a step throws
    explicit Lease(Worker& it) : worker(it) {}
    ~Lease() { worker.busy.store(false, std::memory_order_release); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Worker& worker;
  };

  void allocate() {
    constexpr int64_t width = sizeof(Real);
    shared_ = MemoryBlock(plan_.shared_elements * width, "shared tensors");
    kept_ = MemoryBlock(plan_.kept_features * lanes_ * tiles_ * width, "tensors kept per row");
    for (const Phase& phase : plan_.phases) {
      partial_size_ = std::max(partial_size_, phase.partial_end - phase.partial_begin);
    }
    partial_ = MemoryBlock(partial_size_ * parts_ * width, "partial sums");
    for (const PlannedConstant& it : plan_.constants) {
      std::transform(it.values.begin(), it.values.end(), shared_.as<Real>() + it.offset,
                     [](double value) { return static_cast<Real>(value); });
    }
    for (const PlannedInput& it : plan_.inputs) {
      const bool rows = is_row_local(it.shape), bytes = it.storage == Storage::kByte;
      const int64_t count = rows ? feature_count(it.shape) * capacity_ : 0;
      input_memory_.emplace_back(count * (bytes ? 1 : width), "inputs");
      HostRows<Real> host;
      host.values = input_memory_.back().template as<Real>();
      if (bytes && rows) host.bytes = input_memory_.back().template as<uint8_t>();
      host.scale = static_cast<Real>(it.scale);
      host_inputs_.push_back(host);
    }
    for (const PlannedOutput& it : plan_.outputs) {
      const bool rows = is_row_local(it.shape);
      output_memory_.emplace_back(rows ? feature_count(it.shape) * capacity_ * width : 0,
                                  "outputs");
      outputs_.push_back(output_memory_.back().template as<Real>());
    }
    for (const PlannedVariable& it : plan_.variables) entry_.push_back(variables_.find(it.name));
    current_.resize(entry_.size());
    next_.resize(entry_.size());
  }

  std::vector<RowStep> compile(const std::vector<Step>& steps) {
    std::vector<RowStep> compiled;
    for (const Step& step : steps) {
      RowStep it = compile(step);
      if (step.accumulate) {  // takes over the group that writes what it starts from
        it.group = std::move(compiled.back().group);
        compiled.pop_back();
      }
      compiled.push_back(std::move(it));
    }
    return compiled;
  }

  RowStep compile(const Step& step) {
    RowStep it;
    it.kind = step.kind;
    it.node = step.node;
    it.index = step.index;
    it.variable = step.variable;
    it.times = step.times;
    switch (step.kind) {
      case StepKind::kElementwise:
        it.group = std::make_unique<Group<Real>>(plan_, step, lanes_);
        break;
      case StepKind::kLoadRows:
        it.place = place_of(plan_, step.outputs[0], lanes_);
        it.features = step.outputs[0].count();
        break;
      case StepKind::kStoreRows:
        it.place = place_of(plan_, step.inputs[0], lanes_);
        it.offsets = offsets_of(step.inputs[0].shape, step.inputs[0].strides, lanes_);
        break;
      case StepKind::kLoop:
        it.place = place_of(plan_, step.outputs[0], lanes_);
        it.body = compile(step.body);
        break;
      case StepKind::kOperation:
        it.operation = make_operation<Real>(plan_, step, lanes_);
        workspace_ = std::max(workspace_, it.operation->workspace());
        for (const View& y : step.outputs) {
          if (!y.rows || y.buffer < 0) continue;
          it.checked.emplace_back(place_of(plan_, y, lanes_),
                                  offsets_of(y.shape, y.strides, lanes_));
        }
        break;
    }
    return it;
  }

  template <typename From>
  void assign(size_t input, std::span<const From> values) {
    const PlannedInput& it = plan_.inputs[input];
    Real* const to =
        is_row_local(it.shape) ? host_inputs_[input].values : shared_.as<Real>() + it.offset;
    CHECK(host_inputs_[input].bytes == nullptr, "input '{}' takes bytes", it.name);
    const Real scale = host_inputs_[input].scale;
    std::transform(values.begin(), values.end(), to,
                   [scale](From value) { return static_cast<Real>(value) * scale; });
  }

  const Real* shared_output(size_t output) const {
    const View& view = plan_.outputs[output].view;
    return shared_.as<Real>() + plan_.buffers[static_cast<size_t>(view.buffer)].offset;
  }

  template <typename To>
  void give(size_t output, std::span<To> values) const {
    const Real* const from =
        is_row_local(plan_.outputs[output].shape) ? outputs_[output] : shared_output(output);
    std::transform(from, from + values.size(), values.begin(),
                   [](Real value) { return static_cast<To>(value); });
  }

  // An input or variable that is not finite itself, or -1.
  int32_t source_of_non_finite(int64_t rows) const {
    const auto finite = [&](const Real* values, const Shape& shape) {
      const int64_t count = feature_count(shape) * (is_row_local(shape) ? rows : 1);
      return std::all_of(values, values + count, [](Real value) { return std::isfinite(value); });
    };
    return non_finite_source(
        plan_,
        [&](size_t k) {
          const PlannedInput& it = plan_.inputs[k];
          return finite(
              is_row_local(it.shape) ? host_inputs_[k].values : shared_.as<Real>() + it.offset,
              it.shape);
        },
        [&](size_t k) { return finite(current_[k], plan_.variables[k].shape); });
  }

  void execute(int64_t rows, int32_t* non_finite) {
    pool_ = given_pool_ != nullptr ? given_pool_ : &default_pool();
    for (size_t k = 0; k < entry_.size(); ++k) {
      current_[k] = variables_.entry(entry_[k]).current.template as<Real>();
      next_[k] = variables_.entry(entry_[k]).next.template as<Real>();
    }
    for (const auto& [input, values] : copied_) {
      const PlannedInput& it = plan_.inputs[input];
      std::copy_n(values, feature_count(it.shape), shared_.as<Real>() + it.offset);
    }
    if (plan_.inverse_rows >= 0) {
      shared_.as<Real>()[plan_.inverse_rows] = Real(1) / static_cast<Real>(rows);
    }
    for (size_t k = 0; k < phases_.size(); ++k) {
      Context<Real> context = base_context();
      context.non_finite = non_finite;
      if (k > 0) combine(plan_.phases[k - 1], context);
      phases_[k].shared->run(context, *pool_);
      run_rows(k, rows, non_finite);
      if (non_finite != nullptr && *non_finite >= 0) return;
    }
  }

  Context<Real> base_context() const {
    Context<Real> context;
    context.shared = shared_.as<Real>();
    context.current = current_.data();
    context.next = next_.data();
    return context;
  }

  // A fixed number of parts, each a fixed run of tiles: the sums do not depend on the threads.
  void run_rows(size_t k, int64_t rows, int32_t* non_finite) {
    const Phase& phase = plan_.phases[k];
    if (phases_[k].rows.empty()) return;
    const int64_t tiles = (rows + lanes_ - 1) / lanes_;
    const auto part_body = [&](int64_t part) {
      if (non_finite != nullptr && *non_finite >= 0) return;
      const Lease lease(acquire(part));
      Context<Real> context = base_context();
      Real* memory = lease.worker.memory.template as<Real>();
      context.scratch = memory;
      context.registers = memory + plan_.scratch_features * lanes_;
      context.workspace = context.registers + kRegisters * kChunk;
      context.non_finite = non_finite;
      Real* const sums = partial_.as<Real>() + part * partial_size_;
      std::fill_n(sums, phase.partial_end - phase.partial_begin, Real(0));
      context.partial = sums - phase.partial_begin;
      const Range range = part_range(tiles, part, parts_);
      for (int64_t tile = range.begin; tile < range.end; ++tile) {
        throw_if_stopped();
        context.first_row = tile * lanes_;
        context.rows = std::min(lanes_, rows - context.first_row);
        context.kept = kept_.as<Real>() + tile * plan_.kept_features * lanes_;
        run_steps(phases_[k].rows, context);
      }
    };
    if (non_finite != nullptr) {
      for (int64_t part = 0; part < parts_; ++part) part_body(part);
    } else {
      pool_->run(parts_, part_body);
    }
  }

  // Memory that this thread used last, if it is free: it may still be in the thread's cache.
  Worker& acquire(int64_t part) {
    thread_local int64_t last = 0;
    const int64_t first = std::min(last, parts_ - 1);
    for (int64_t k = 0; k < parts_; ++k) {
      const int64_t candidate = (first + k) % parts_;
      Worker& worker = workers_[static_cast<size_t>(candidate)];
      if (!worker.busy.exchange(true, std::memory_order_acquire)) {
        last = candidate;
        return worker;
      }
    }
    CHECK(false, "part {} finds no memory", part);
  }

  void run_steps(const std::vector<RowStep>& steps, const Context<Real>& context) const {
    for (const RowStep& step : steps) {
      switch (step.kind) {
        case StepKind::kElementwise:
          step.group->run(context);
          break;
        case StepKind::kOperation:
          if (step.group != nullptr) {
            step.operation->run_from(*step.group, context);
          } else {
            step.operation->run(context);
          }
          if (context.non_finite != nullptr) check(step, context);
          break;
        case StepKind::kLoop:
          for (int64_t round = 1; round <= step.times; ++round) {
            std::fill_n(context.at(step.place), lanes_, static_cast<Real>(round));
            run_steps(step.body, context);
          }
          break;
        case StepKind::kLoadRows: {
          const size_t index = static_cast<size_t>(step.index);
          HostRows<Real> host;
          if (step.variable) {
            host.values = current_[index];
          } else {
            host = host_inputs_[index];
          }
          load_rows(host, step.features, lanes_, context, context.at(step.place));
          break;
        }
        case StepKind::kStoreRows: {
          const size_t index = static_cast<size_t>(step.index);
          Real* const host = step.variable ? next_[index] : outputs_[index];
          store_rows(context.at(step.place), step.offsets, lanes_, context, host);
          break;
        }
      }
    }
  }

  void check(const RowStep& step, const Context<Real>& context) const {
    for (const auto& [place, offsets] : step.checked) {
      for (const int64_t offset : offsets) {
        const Real* const values = context.at(place) + offset;
        const bool finite = std::all_of(values, values + context.rows,
                                        [](Real value) { return std::isfinite(value); });
        if (!finite && *context.non_finite < 0) *context.non_finite = step.node;
      }
    }
  }

  void combine(const Phase& phase, const Context<Real>& context) {
    const int64_t size = phase.partial_end - phase.partial_begin;
    if (size == 0) return;
    Real* const to = context.shared + phase.partial_begin;
    const auto piece = [&](int64_t begin, int64_t end) {
      const Real* from = partial_.as<Real>();
      std::copy(from + begin, from + end, to + begin);
      for (int64_t part = 1; part < parts_; ++part) {
        from += partial_size_;
        for (int64_t k = begin; k < end; ++k) to[k] += from[k];
      }
    };
    constexpr int64_t kPiece = 2048;
    const int64_t pieces = (size + kPiece - 1) / kPiece;
    if (pieces < 4) {
      piece(0, size);
    } else {
      pool_->run(pieces, [&](int64_t k) { piece(k * kPiece, std::min(size, (k + 1) * kPiece)); });
    }
  }

  const Plan& plan_;
  Variables& variables_;
  ThreadPool* given_pool_;      // null: the default pool of the moment
  ThreadPool* pool_ = nullptr;  // of the run
  int64_t capacity_, lanes_, tiles_, parts_;
  int64_t partial_size_ = 0, workspace_ = 0;
  MemoryBlock shared_, kept_, partial_;
  std::vector<MemoryBlock> input_memory_, output_memory_;
  std::vector<HostRows<Real>> host_inputs_;
  std::vector<std::pair<size_t, const Real*>> copied_;  // shared inputs that are bound
  std::vector<Real*> outputs_;                          // row-local ones
  std::vector<int64_t> entry_;                          // of each planned variable in Variables
  std::vector<Real*> current_, next_;
  std::vector<CompiledPhase> phases_;
  std::unique_ptr<Worker[]> workers_;
};

}  // namespace

std::unique_ptr<Executor> make_executor(const Plan& plan, Variables& variables,
                                        const ExecutorOptions& options) {
  if (variables.type() == Type::kFloat64) {
    return std::make_unique<CpuExecutor<double>>(plan, variables, options);
  }
  return std::make_unique<CpuExecutor<float>>(plan, variables, options);
}

}  // namespace agora::compute::cpu
