#include "compute/kernel/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/kernel/prelude_text.h"
#include "compute/kernel/writer.h"

namespace agora::compute::kernel {
namespace {

constexpr size_t kFewProducts = 64;
constexpr int64_t kCloseWeights = 1 << 17;  // short ones, as many as stay close to a block

void add_readers(const std::vector<Step>& steps, std::multimap<int32_t, const Step*>& readers) {
  for (const Step& step : steps) {
    for (const View& view : step.inputs) {
      if (!view.uniform && view.buffer >= 0) readers.emplace(view.buffer, &step);
    }
    add_readers(step.body, readers);
  }
}

// Whether some take more than one tile of eight columns.
bool has_wide_products(const std::vector<Step>& steps, int64_t lanes) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    const bool wide = step.kind == StepKind::kOperation && step.op == Op::kMatmul &&
                      step.inputs[0].count() / step.inputs[0].shape.back() * lanes > 8;
    return wide || has_wide_products(step.body, lanes);
  });
}

}  // namespace

Writer::Writer(const Plan& plan, const SourceOptions& options)
    : plan_(plan), options_(options), memory_(plan, options) {
  for (const Phase& phase : plan.phases) {
    sums_at_.push_back(source_.sums);
    source_.sums += phase.partial_end - phase.partial_begin;
    add_readers(phase.shared, readers_);
    add_readers(phase.rows, readers_);
  }
  is_short_ = options_.short_products && options_.type == Type::kFloat32;
  find_weights();
  // A search has few products and runs often: calls cost it more than code.
  inlined_ = is_short_ && products_ <= kFewProducts;
  shares_products_ =
      !inlined_ && std::any_of(plan.phases.begin(), plan.phases.end(), [&](const Phase& phase) {
        return has_wide_products(phase.rows, options.lanes);
      });
  holds_weights_ = inlined_ && source_.tiled > kCloseWeights;
}

void Writer::line(const std::string& text) {
  source_.text += text;
  if (!text.empty()) source_.text += '\n';
}

int Writer::number_of(int32_t node) {
  source_.nodes.push_back(node);
  return static_cast<int>(source_.nodes.size()) - 1;
}

std::string Writer::checked(const std::string& value, int number) const {
  if (!options_.check) return "";
  return fmt::format(" not_finite({}, {}, a.faults);", value, number);
}

Source Writer::run() {
  const int64_t scratch = plan_.scratch_features * options_.lanes;
  const auto many = [](size_t count) { return std::max<size_t>(count, 1); };
  if (options_.type == Type::kFloat64) line("#define AGORA_DOUBLE");
  line(fmt::format("using Real = {};", options_.type == Type::kFloat64 ? "double" : "float"));
  line(fmt::format("constexpr int kLanes = {}, kBlockThreads = {};", options_.lanes,
                   options_.threads));
  if (is_short_) line("#define AGORA_SHORT");
  if (inlined_) line("#define AGORA_INLINED");
  line(fmt::format("constexpr bool kShort = {};", is_short_));
  for (const char* const part : {kPrelude, kProducts, kLateSums, kReflections}) line(part);
  const bool images = plan_.image_features > 0;
  if (images) line(kTensorCores);
  line(images ? kImages : "struct bf16;");
  line("struct Arguments {");
  line(
      "Real *shared, *kept, *scratch, *sums, *workspace; Weight* tiled; Arrivals* barrier; int* "
      "faults;");
  line(
      fmt::format("int64 rows, times, piece, capacity; bf16* images; const void* inputs[{}]; Real "
                  "*outputs[{}], *current[{}], *next[{}]; }};",
                  many(plan_.inputs.size()), many(plan_.outputs.size()),
                  many(plan_.variables.size()), many(plan_.variables.size())));
  line(fmt::format("constexpr int64 kSums = {};", source_.sums));
  line("// A tile and where a block keeps what belongs to it.");
  line(
      "struct Work { Real *slow, *kept, *own_sums; int64 first_row; int rows; bool fresh, "
      "odd; };");
  line("#ifdef __CUDACC__");
  line(
      "#define FAST_MEMORY extern __shared__ __align__(16) unsigned char fast_memory[]; \\\n"
      "Real* const fast = reinterpret_cast<Real*>(fast_memory);");
  line("#else");
  line(fmt::format("static Real fast_memory[{}];",
                   std::max<int64_t>(1, memory_.fast_features() * options_.lanes)));
  line("#define FAST_MEMORY Real* const fast = fast_memory;");
  line("#endif");
  line(
      "#define TILE_MEMORY FAST_MEMORY \\\n"
      "Real *const slow = work.slow, *const kept = work.kept, *const own_sums = work.own_sums; \\\n"
      "const int64 first_row = work.first_row; const int rows = work.rows; \\\n"
      "const bool fresh = work.fresh, odd = work.odd; (void)fast, (void)slow, (void)kept; \\\n"
      "(void)own_sums, (void)first_row, (void)rows, (void)fresh, (void)odd;");
  const std::string beginning = std::exchange(source_.text, "");
  line("#ifdef __CUDACC__\nKERNEL program(const __grid_constant__ Arguments a) {");
  line("#else\nKERNEL program(const Arguments& a) {\n#endif\nFAST_MEMORY");
  line(fmt::format("Real* const slow = a.scratch + int64(block_index()) * {};", scratch));
  line("Real* const own_sums = a.sums + block_index() * kSums;");
  line("const int tiles = int((a.rows + kLanes - 1) / kLanes);");
  line("const int parts = tiles < block_count() ? tiles : block_count();");
  line("Arrivals arrivals = first_arrivals(a.barrier);");
  line("(void)fast, (void)slow, (void)own_sums, (void)parts, (void)arrivals;");
  // Where others' kernels follow, the end of this one is the barrier.
  line(fmt::format("if ({}) {{ constexpr bool odd = false; (void)odd;",
                   images ? "a.piece == 0" : "true"));
  const bool tiles = tile_weights(-1, !images);
  line("}");
  if (images) source_.pieces.push_back({.phases = 0, .empty = !tiles});
  line("for (int64 time = 0; time < a.times; ++time) {");
  line("const bool odd = time % 2 != 0; (void)odd;");
  line("if (time > 0) grid_barrier(a.barrier, arrivals);");
  for (phase_ = 0; phase_ < plan_.phases.size(); ++phase_) {
    const Phase& phase = plan_.phases[phase_];
    const bool ends = !phase.images.empty() || phase_ + 1 == plan_.phases.size();
    if (source_.pieces.empty() || source_.pieces.back().phases == phase_) {
      line(fmt::format("if (a.piece == {}) {{", source_.pieces.size()));
      source_.pieces.emplace_back();
      source_.pieces.back().phases = plan_.phases.size();
    }
    Source::Piece& piece = source_.pieces.back();
    const bool sums =
        phase_ > 0 && plan_.phases[phase_ - 1].partial_begin < plan_.phases[phase_ - 1].partial_end;
    piece.empty = piece.empty && !sums && phase.shared.empty() && phase.rows.empty();
    line(fmt::format("// Phase {}.", phase_));
    phase_shared(phase_);
    tile_weights(static_cast<int64_t>(phase_));
    phase_rows(phase_);
    if (!ends) {
      line("grid_barrier(a.barrier, arrivals);");
    } else {
      line("}");
      piece.phases = phase_ + 1;
    }
  }
  line("} }");
  source_.text = beginning + functions_ + source_.text;
  return std::move(source_);
}

Source make_source(const Plan& plan, const SourceOptions& options) {
  return Writer(plan, options).run();
}

}  // namespace agora::compute::kernel
