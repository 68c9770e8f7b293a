#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/signals.h"
#include "compute/kernel/gather.h"
#include "compute/kernel/image_steps.h"
#include "compute/kernel/machine.h"
#include "compute/kernel/scalars.h"
#include "compute/kernel/source.h"

// Runs a plan as one kernel, between whose pieces steps of images stand: memory is allocated and
// the text compiled when it is made.
namespace agora::compute::kernel {
namespace {

constexpr int64_t kSmallTile = 4, kTile = 8;  // rows
constexpr int64_t kThreads = 512;
constexpr size_t kMostRecordings = 8;
constexpr int64_t kNear = 64 << 10;  // bytes of an output that the host's own memory takes
constexpr int64_t kReserved = 2048;  // bytes of fast memory that the prelude uses

template <typename Real>
class KernelExecutor final : public Executor {
 public:
  KernelExecutor(Machine& machine, const Plan& plan, Variables& variables,
                 const ExecutorOptions& options)
      : machine_(machine),
        plan_(plan),
        variables_(variables),
        capacity_(options.rows),
        images_(machine, plan, options.rows),
        gather_(machine, options.rows) {
    options_.type = sizeof(Real) == 8 ? Type::kFloat64 : Type::kFloat32;
    options_.threads = kThreads;
    options_.short_products = options.short_products;
    options_.rows = options.rows;
    options_.lanes = choose_lanes();
    const int64_t fits = (machine.fast_bytes() - kReserved) / (options_.lanes * kWidth);
    options_.fast_features = std::min(plan.scratch_features, fits);
    const int64_t tiles = (capacity_ + options_.lanes - 1) / options_.lanes;
    options_.keeps_fast = plan.image_features == 0 && tiles <= machine.blocks() &&
                          plan.scratch_features + plan.kept_features <= fits;
    const Source source = make_source(plan, options_);
    if (source.has_indices) nodes_ = source.nodes;
    pieces_ = source.pieces;
    const int64_t for_shared = (source.distributed + kThreads - 1) / kThreads;
    blocks_ = std::clamp<int64_t>(std::max(tiles, for_shared), 1, machine.blocks());
    kernel_ = compile(source);
    allocate(source, tiles);
  }

  void set(size_t input, std::span<const float> values) override { assign(input, values); }
  void set(size_t input, std::span<const double> values) override { assign(input, values); }
  void set(size_t input, std::span<const int32_t> values) override { assign(input, values); }
  void set(size_t input, std::span<const uint8_t> values) override {
    const PlannedInput& it = plan_.inputs[input];
    if (it.storage == Storage::kByte && is_row_local(it.shape)) {
      inputs_[input]->write(values.data(), static_cast<int64_t>(values.size()));
    } else {
      assign(input, values);
    }
  }

  using Executor::set_rows;
  void set_rows(size_t input, const DeviceMemory& table, std::span<const int32_t> chosen,
                int64_t features) override {
    gather_.run(table, chosen, features, *inputs_[input]);
  }

  void bind_input(size_t input, const DeviceArray& array) override {
    if (is_row_local(plan_.inputs[input].shape)) {
      bound_inputs_[input] = &array;
    } else {
      copied_.emplace_back(input, &array);
    }
  }
  void bind_output(size_t output, DeviceArray& array) override { bound_outputs_[output] = &array; }

  void run(int64_t rows) override {
    throw_if_stopped();
    start(*kernel_, rows, 1);
  }
  void repeat(int64_t rows, int64_t times) override {
    // Variables with rows are committed by the host where not all rows take part.
    const bool partly =
        rows < variables_.rows() &&
        std::any_of(plan_.variables.begin(), plan_.variables.end(),
                    [](const PlannedVariable& it) { return it.updated && is_row_local(it.shape); });
    if (partly || times == 1 || pieces_.size() > 1) return Executor::repeat(rows, times);
    throw_if_stopped();
    start(*kernel_, rows, times);
  }

  std::optional<int32_t> first_non_finite(int64_t rows) override {
    if (const int32_t source = source_of_non_finite(rows); source >= 0) return source;
    SourceOptions checking = options_;
    checking.check = true;
    const Source source = make_source(plan_, checking);
    const std::unique_ptr<Kernel> kernel = compile(source);
    reset_faults();
    start(*kernel, rows, 1);
    int32_t faults[2];
    faults_->read(faults, sizeof faults);
    reset_faults();
    if (faults[1] >= static_cast<int32_t>(source.nodes.size())) return std::nullopt;
    return source.nodes[static_cast<size_t>(faults[1])];
  }

  void commit(int64_t rows) override {
    if (times_ % 2 == 0) return;  // the last of an even number of runs wrote where the first read
    for (size_t k = 0; k < plan_.variables.size(); ++k) {
      const PlannedVariable& it = plan_.variables[k];
      if (!it.updated) continue;
      Variables::Entry& entry = variables_.entry(entry_[k]);
      if (is_row_local(it.shape) && rows < variables_.rows()) {  // rows that did not take part
        std::vector<Real> now(static_cast<size_t>(entry.count)), next(now.size());
        entry.current.read(std::span<Real>(now));
        entry.next.read(std::span<Real>(next));
        const int64_t done = rows * feature_count(it.shape);
        std::copy(now.begin() + done, now.end(), next.begin() + done);
        entry.next.set(std::span<const Real>(next));
      }
      variables_.commit(entry_[k]);
    }
  }

  double scalar(size_t output) const override {
    if (scalars_ && scalar_[output] >= 0) {
      if (!nodes_.empty()) throw_if_out_of_range(scalars_->faults());
      return static_cast<double>(scalars_->value(static_cast<size_t>(scalar_[output])));
    }
    Real value;
    look_at(output, &value, 1);
    return static_cast<double>(value);
  }
  void read(size_t output, std::span<float> values) const override { give(output, values); }
  void read(size_t output, std::span<double> values) const override { give(output, values); }

  int64_t memory_bytes() const override { return bytes_ + images_.bytes(); }

 private:
  static constexpr int64_t kWidth = sizeof(Real);
  static constexpr size_t kPiece = 10;  // among the arguments

  // Few rows: small tiles, so that many blocks have one. Many: what fast memory holds.
  int64_t choose_lanes() const {
    if (plan_.small_tiles) return kSmallTile;
    for (const int64_t lanes : {32, 16}) {
      const bool fits =
          plan_.scratch_features * lanes * kWidth <= machine_.fast_bytes() - kReserved;
      if (fits && capacity_ >= lanes * machine_.blocks()) return lanes;
    }
    return kTile;
  }

  std::unique_ptr<Kernel> compile(const Source& source) {
    const int64_t kept = options_.keeps_fast ? plan_.kept_features : 0;
    return machine_.compile(source.text, kThreads,
                            (options_.fast_features + kept) * options_.lanes * kWidth, true);
  }

  std::unique_ptr<DeviceMemory> memory(int64_t bytes, const char* purpose) {
    bytes_ += bytes;
    return machine_.allocate(std::max<int64_t>(bytes, 16), purpose);
  }

  void allocate(const Source& source, int64_t tiles) {
    const int64_t lanes = options_.lanes;
    const bool slow = options_.fast_features < plan_.scratch_features;
    shared_ = memory(plan_.shared_elements * kWidth, "shared tensors");
    kept_ = memory(options_.keeps_fast ? 0 : plan_.kept_features * lanes * tiles * kWidth,
                   "tensors kept per row");
    scratch_ = memory(slow ? plan_.scratch_features * lanes * blocks_ * kWidth : 0,
                      "the tiles of a program");
    sums_ = memory(source.sums * blocks_ * kWidth, "partial sums");
    workspace_ = memory(source.workspace_sets * blocks_ * kWidth, "partial sums");
    tiled_ = memory(source.tiled * kWidth, "weights of products");
    barrier_ = memory(16, "barriers");
    faults_ = memory(16, "faults");
    reset_faults();
    std::vector<Real> shared(static_cast<size_t>(plan_.shared_elements));
    for (const PlannedConstant& it : plan_.constants) {
      std::transform(it.values.begin(), it.values.end(), shared.begin() + it.offset,
                     [](double value) { return static_cast<Real>(value); });
    }
    if (!shared.empty()) shared_->write(shared.data(), std::ssize(shared) * kWidth);
    for (const PlannedInput& it : plan_.inputs) {
      const bool rows = is_row_local(it.shape), bytes = it.storage == Storage::kByte;
      const int64_t count = rows ? feature_count(it.shape) * capacity_ : 0;
      inputs_.push_back(memory(count * (bytes ? 1 : kWidth), "inputs"));
      bound_inputs_.push_back(nullptr);
    }
    for (const PlannedOutput& it : plan_.outputs) {
      const bool rows = is_row_local(it.shape);
      const int64_t bytes = rows ? feature_count(it.shape) * capacity_ * kWidth : 16;
      bytes_ += bytes;
      outputs_.push_back(bytes <= kNear ? machine_.allocate_near(bytes, "outputs")
                                        : machine_.allocate(bytes, "outputs"));
      bound_outputs_.push_back(nullptr);
    }
    for (const PlannedVariable& it : plan_.variables) entry_.push_back(variables_.find(it.name));
    if (pieces_.size() > 1) gather_scalars();
  }

  void gather_scalars() {
    std::vector<int64_t> places;
    for (const PlannedOutput& it : plan_.outputs) {
      scalar_.push_back(it.shape.empty() ? std::ssize(places) : -1);
      if (!it.shape.empty()) continue;
      places.push_back(plan_.buffers[static_cast<size_t>(it.view.buffer)].offset);
    }
    if (!places.empty()) scalars_.emplace(machine_, places);
  }

  void reset_faults() const {
    const int32_t none[2] = {0, std::numeric_limits<int32_t>::max()};
    faults_->write(none, sizeof none);
  }

  void start(Kernel& kernel, int64_t rows, int64_t times) {
    times_ = times;
    if (scalars_) scalars_->forget();
    for (const auto& [input, array] : copied_) {
      std::vector<Real> values(static_cast<size_t>(array->count()));
      array->read(std::span<Real>(values));
      write_shared(plan_.inputs[input].offset, values);
    }
    if (plan_.inverse_rows >= 0 && rows != rows_) {
      write_shared(plan_.inverse_rows, {Real(1) / static_cast<Real>(rows)});
      rows_ = rows;
    }
    const auto address = [](const void* it) { return reinterpret_cast<uint64_t>(it); };
    arguments_.clear();
    for (const auto* it :
         {&shared_, &kept_, &scratch_, &sums_, &workspace_, &tiled_, &barrier_, &faults_}) {
      arguments_.push_back(address((*it)->template as<void>()));
    }
    arguments_.push_back(static_cast<uint64_t>(rows));
    arguments_.push_back(static_cast<uint64_t>(times));
    arguments_.push_back(0);
    arguments_.push_back(static_cast<uint64_t>(capacity_));
    arguments_.push_back(address(images_.images()));
    const auto all = [&](size_t count, const auto& one) {
      for (size_t k = 0; k < std::max<size_t>(count, 1); ++k) {
        arguments_.push_back(k < count ? address(one(k)) : 0);
      }
    };
    const auto place = [](const DeviceArray* array, const DeviceMemory& own) {
      return array != nullptr ? array->as<void>() : own.as<void>();
    };
    all(plan_.inputs.size(), [&](size_t k) { return place(bound_inputs_[k], *inputs_[k]); });
    all(plan_.outputs.size(), [&](size_t k) { return place(bound_outputs_[k], *outputs_[k]); });
    all(entry_.size(), [&](size_t k) { return variables_.entry(entry_[k]).current.as<void>(); });
    all(entry_.size(), [&](size_t k) { return variables_.entry(entry_[k]).next.as<void>(); });
    const ImageSteps::Places places{
        .shared = [&](const View& it) { return address(place_of(it)); },
        .input =
            [&](int32_t k) {
              return address(place(bound_inputs_[size_t(k)], *inputs_[size_t(k)]));
            }};
    if (&kernel != kernel_.get() || pieces_.size() == 1) {
      return start_pieces(kernel, rows, places);
    }
    // A start is all that its arguments say: one that comes again is recorded.
    const std::vector<uint64_t> now = arguments_;
    if (recordings_.size() > kMostRecordings) recordings_.clear();
    const auto [known, is_new] = recordings_.try_emplace(now, nullptr);
    if (!is_new && known->second == nullptr) {
      known->second = machine_.record([&] { start_pieces(kernel, rows, places); });
    }
    if (known->second != nullptr) return known->second->start();
    start_pieces(kernel, rows, places);
  }

  void start_pieces(Kernel& kernel, int64_t rows, const ImageSteps::Places& places) {
    for (size_t k = 0; k < pieces_.size(); ++k) {
      arguments_[kPiece] = k;
      if (!pieces_[k].empty) kernel.start(blocks_, arguments_);
      if (pieces_[k].phases > 0) images_.run(pieces_[k].phases - 1, rows, places);
    }
    if (scalars_) scalars_->start(*shared_, *faults_);
  }

  // Of a tensor without rows that exists before the run's updates.
  const void* place_of(const View& it) const {
    const Buffer& buffer = plan_.buffers[static_cast<size_t>(it.buffer)];
    if (buffer.space == Space::kVariable) {
      const int64_t entry = entry_[static_cast<size_t>(buffer.variable)];
      return variables_.entry(entry).current.as<Real>() + it.offset;
    }
    return shared_->as<Real>() + buffer.offset + it.offset;
  }

  void write_shared(int64_t offset, const std::vector<Real>& values) {
    shared_->write(values.data(), std::ssize(values) * kWidth, offset * kWidth);
  }

  template <typename From>
  void assign(size_t input, std::span<const From> values) {
    const PlannedInput& it = plan_.inputs[input];
    CHECK(it.storage != Storage::kByte || !is_row_local(it.shape), "input '{}' takes bytes",
          it.name);
    std::vector<Real>& converted = converted_;
    converted.resize(values.size());
    const Real scale = static_cast<Real>(it.scale);
    std::transform(values.begin(), values.end(), converted.begin(),
                   [scale](From value) { return static_cast<Real>(value) * scale; });
    if (is_row_local(it.shape)) {
      inputs_[input]->write(converted.data(), std::ssize(converted) * kWidth);
    } else {
      write_shared(it.offset, converted);
    }
  }

  // Values of an output; whoever looks also learns of indices out of range.
  void look_at(size_t output, Real* values, int64_t count) const {
    const PlannedOutput& it = plan_.outputs[output];
    if (is_row_local(it.shape)) {
      CHECK(bound_outputs_[output] == nullptr, "output '{}' is in an array of its own", it.name);
      outputs_[output]->read(values, count * kWidth);
    } else {
      const Buffer& buffer = plan_.buffers[static_cast<size_t>(it.view.buffer)];
      shared_->read(values, count * kWidth, buffer.offset * kWidth);
    }
    if (nodes_.empty()) return;
    std::vector<int32_t> faults(3);
    faults_->read(faults.data(), 3 * sizeof(int32_t));
    throw_if_out_of_range(faults);
  }

  void throw_if_out_of_range(const std::vector<int32_t>& faults) const {
    if (faults[0] == 0) return;
    reset_faults();
    const Node& node = plan_.graph->node(nodes_[static_cast<size_t>(faults[0] - 1)]);
    const int64_t depth = node.op == Op::kOneHot    ? node.ints[0]
                          : node.op == Op::kScatter ? node.shape[0]
                                                    : plan_.graph->node(node.inputs[0]).shape[0];
    throw user_error("{}: index {} is outside [0, {})", op_name(node.op), faults[2], depth);
  }

  template <typename To>
  void give(size_t output, std::span<To> values) const {
    std::vector<Real> found(values.size());
    look_at(output, found.data(), std::ssize(found));
    std::transform(found.begin(), found.end(), values.begin(),
                   [](Real value) { return static_cast<To>(value); });
  }

  // An input or variable that is not finite itself, or -1.
  int32_t source_of_non_finite(int64_t rows) const {
    const auto finite = [&](const DeviceMemory& memory, const Shape& shape, int64_t at) {
      const int64_t count = feature_count(shape) * (is_row_local(shape) ? rows : 1);
      std::vector<Real> values(static_cast<size_t>(count));
      memory.read(values.data(), count * kWidth, at * kWidth);
      return all_finite(values, count);
    };
    const auto array_is_finite = [&](const DeviceArray& array, const Shape& shape) {
      std::vector<Real> values(static_cast<size_t>(array.count()));
      array.read(std::span<Real>(values));
      return all_finite(values, feature_count(shape) * (is_row_local(shape) ? rows : 1));
    };
    return non_finite_source(
        plan_,
        [&](size_t k) {
          const PlannedInput& it = plan_.inputs[k];
          if (!is_row_local(it.shape)) return finite(*shared_, it.shape, it.offset);
          if (bound_inputs_[k] != nullptr) return array_is_finite(*bound_inputs_[k], it.shape);
          return finite(*inputs_[k], it.shape, 0);
        },
        [&](size_t k) {
          return array_is_finite(variables_.entry(entry_[k]).current, plan_.variables[k].shape);
        });
  }
  static bool all_finite(const std::vector<Real>& values, int64_t count) {
    return std::all_of(values.begin(), values.begin() + count,
                       [](Real value) { return std::isfinite(value); });
  }

  Machine& machine_;
  const Plan& plan_;
  Variables& variables_;
  int64_t capacity_;
  ImageSteps images_;
  Gather gather_;
  SourceOptions options_;
  std::vector<Source::Piece> pieces_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<int32_t> nodes_;  // by the numbers of faults, where indices may be out of range
  int64_t blocks_ = 1, bytes_ = 0;
  std::optional<Scalars> scalars_;  // of a program of several kernels
  std::vector<int64_t> scalar_;     // its number among them, of each output, or -1
  // By the arguments of a start; null: seen once.
  std::map<std::vector<uint64_t>, std::unique_ptr<Recording>> recordings_;
  int64_t rows_ = -1;  // for which 1 / rows is there
  int64_t times_ = 1;  // of the last start
  std::unique_ptr<DeviceMemory> shared_, kept_, scratch_, sums_, workspace_, tiled_, barrier_,
      faults_;
  std::vector<std::unique_ptr<DeviceMemory>> inputs_, outputs_;
  std::vector<const DeviceArray*> bound_inputs_, bound_outputs_;  // row-local ones, or null
  std::vector<std::pair<size_t, const DeviceArray*>> copied_;     // shared inputs that are bound
  std::vector<int64_t> entry_;  // of each planned variable in Variables
  std::vector<uint64_t> arguments_;
  std::vector<Real> converted_;
};

}  // namespace

PlanLimits plan_limits(const Machine& machine) {
  return {.group_instructions = 128,
          .alignment = 4,
          .steps_along_last_axis = false,
          .fuses_epilogues = true,
          .fuses_reflections = true,
          .groups_follow = true,
          .pads_at_once = true,
          .images = true,
          .stack_bytes = machine.fast_bytes(),
          .roomy_features = 3500,
          .few_rows = kSmallTile * machine.blocks()};
}

std::unique_ptr<Executor> make_executor(Machine& machine, const Plan& plan, Variables& variables,
                                        const ExecutorOptions& options) {
  if (variables.type() == Type::kFloat64) {
    return std::make_unique<KernelExecutor<double>>(machine, plan, variables, options);
  }
  return std::make_unique<KernelExecutor<float>>(machine, plan, variables, options);
}

}  // namespace agora::compute::kernel
