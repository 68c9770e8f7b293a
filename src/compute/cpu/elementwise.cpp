#include "compute/cpu/elementwise.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace agora::compute::cpu {
namespace {

// Drops axes of size one and joins neighbours that every view walks as one.
void join_axes(std::vector<int64_t>& sizes, std::vector<std::vector<int64_t>>& strides) {
  std::vector<int64_t> kept_sizes;
  std::vector<std::vector<int64_t>> kept(strides.size());
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] == 1) continue;
    const bool joins = !kept_sizes.empty() &&
                       std::all_of(kept.begin(), kept.end(),
                                   [&, view = size_t{0}](const std::vector<int64_t>& it) mutable {
                                     return it.back() == strides[view++][axis] * sizes[axis];
                                   });
    if (joins) {
      kept_sizes.back() *= sizes[axis];
      for (size_t view = 0; view < kept.size(); ++view) kept[view].back() = strides[view][axis];
    } else {
      kept_sizes.push_back(sizes[axis]);
      for (size_t view = 0; view < kept.size(); ++view) {
        kept[view].push_back(strides[view][axis]);
      }
    }
  }
  sizes = std::move(kept_sizes);
  strides = std::move(kept);
}

struct MacroCode {
  Instruction instruction;
  Macro macro = Macro::kNone;
  bool gone = false;  // done by a later instruction
};

bool varies_by_lane(const Step& step, int32_t operand) {
  if (operand < 0) return true;
  const View& view = step.inputs[static_cast<size_t>(operand)];
  return !view.uniform && view.rows;
}

// Joins instructions of a row group whose intermediate results nobody else sees.
std::vector<MacroCode> with_macros(const Step& step) {
  std::vector<MacroCode> code;
  std::vector<int> uses(step.code.size(), 0);
  for (const Instruction& it : step.code) {
    code.push_back({it});
    for (const int32_t from : {it.a, it.b, it.c}) {
      if (from <= -2) ++uses[static_cast<size_t>(-2 - from)];
    }
  }
  if (!step.outputs[0].rows) return code;
  // The instruction behind an operand, if it is a plain `op` for this use only.
  const auto source = [&](int32_t operand, Op op) -> MacroCode* {
    if (operand > -2) return nullptr;
    const size_t at = static_cast<size_t>(-2 - operand);
    MacroCode& it = code[at];
    const bool private_result = uses[at] == 1 && step.outputs[at].buffer < 0;
    const bool plain = it.macro == Macro::kNone && !it.gone && it.instruction.op == op;
    return private_result && plain ? &it : nullptr;
  };
  for (MacroCode& it : code) {
    Instruction& mine = it.instruction;
    for (const auto& [operand, other] : {std::pair{mine.a, mine.b}, std::pair{mine.b, mine.a}}) {
      if (it.macro != Macro::kNone || !varies_by_lane(step, other)) continue;
      if (mine.op == Op::kAdd) {
        MacroCode* const sum = source(operand, Op::kAdd);
        if (sum == nullptr || !varies_by_lane(step, sum->instruction.a) ||
            !varies_by_lane(step, sum->instruction.b)) {
          continue;
        }
        it.macro = Macro::kAddThree;
        sum->gone = true;
        mine = {mine.op, sum->instruction.a, sum->instruction.b, other, mine.node};
      } else if (mine.op == Op::kMul) {
        MacroCode* const slope = source(operand, Op::kSub);
        if (slope == nullptr || slope->instruction.a < 0) continue;
        const View& one = step.inputs[static_cast<size_t>(slope->instruction.a)];
        MacroCode* const power = source(slope->instruction.b, Op::kSquare);
        if (!one.uniform || one.value != 1 || power == nullptr ||
            !varies_by_lane(step, power->instruction.a)) {
          continue;
        }
        it.macro = Macro::kTanhSlope;
        slope->gone = power->gone = true;
        mine = {mine.op, other, power->instruction.a, -1, mine.node};
      }
    }
  }
  return code;
}

}  // namespace

template <typename Real>
Group<Real>::Group(const Plan& plan, const Step& step, int64_t lanes) {
  const bool rows = step.outputs[0].rows;
  const Shape& shape = step.outputs[0].shape;
  std::vector<int64_t> sizes = shape;
  std::vector<std::vector<int64_t>> all_strides;
  std::vector<const View*> views;
  for (const View& input : step.inputs) views.push_back(&input);
  std::vector<int32_t> output_slot(step.code.size(), -1);
  for (size_t k = 0; k < step.outputs.size(); ++k) {
    if (step.outputs[k].buffer < 0) continue;
    output_slot[k] = static_cast<int32_t>(views.size());
    views.push_back(&step.outputs[k]);
  }
  for (const View* view : views) {
    all_strides.push_back(view->uniform ? std::vector<int64_t>(shape.size(), 0) : view->strides);
  }
  join_axes(sizes, all_strides);
  // The innermost loops: features of `lanes` rows, or features of the last shared axis.
  if (rows) {
    lanes_ = lanes;
  } else if (!sizes.empty()) {
    lanes_ = sizes.back();
    sizes.pop_back();
  }
  if (!sizes.empty()) {
    features_ = sizes.back();
    sizes.pop_back();
  }
  outer_ = sizes;
  for (size_t k = 0; k < views.size(); ++k) {
    const View& view = *views[k];
    std::vector<int64_t> strides = all_strides[k];
    const int64_t width = rows && view.rows ? lanes : 1;
    for (int64_t& stride : strides) stride *= width;
    Operand it{.uniform = view.uniform, .value = static_cast<Real>(view.value)};
    if (!view.uniform) it.place = place_of(plan, view, lanes);
    if (rows) {
      it.splat = view.uniform || !view.rows;
    } else if (strides.size() > outer_.size() && lanes_ > 1) {
      it.splat = view.uniform || strides.back() == 0;
      CHECK(it.splat || strides.back() == 1, "a gap along the last axis");
      strides.pop_back();
    } else {
      it.splat = view.uniform;
    }
    if (strides.size() > outer_.size()) {
      it.feature_stride = strides.back();
      strides.pop_back();
    }
    it.outer = std::move(strides);
    operands_.push_back(std::move(it));
  }
  chunk_lanes_ = std::min(lanes_, kChunk);
  chunk_features_ = std::min(features_, std::max<int64_t>(1, kChunk / lanes_));
  lane_chunks_ = (lanes_ + chunk_lanes_ - 1) / chunk_lanes_;
  feature_chunks_ = (features_ + chunk_features_ - 1) / chunk_features_;
  chunks_ = lane_chunks_ * feature_chunks_;
  for (const int64_t size : outer_) chunks_ *= size;

  // Intermediates without memory get registers, which are reused after their last use.
  const int32_t first_register = static_cast<int32_t>(operands_.size());
  const std::vector<MacroCode> instructions = with_macros(step);
  std::vector<size_t> last_use(instructions.size(), 0);
  for (size_t k = 0; k < instructions.size(); ++k) {
    const Instruction& it = instructions[k].instruction;
    if (instructions[k].gone) continue;
    for (const int32_t from : {it.a, it.b, it.c}) {
      if (from <= -2) last_use[static_cast<size_t>(-2 - from)] = k;
    }
  }
  std::vector<int32_t> slot = output_slot;
  std::vector<size_t> owner;  // of each register: an instruction
  for (size_t k = 0; k < instructions.size(); ++k) {
    if (instructions[k].gone) continue;
    const Instruction& instruction = instructions[k].instruction;
    Code code{.node = instruction.node};
    std::array<bool, 3> splat{};
    bool flat = true;
    const std::array<int32_t, 3> from{instruction.a, instruction.b, instruction.c};
    for (size_t operand = 0; operand < 3; ++operand) {
      if (from[operand] == -1) {
        code.from[operand] = -1;
        continue;
      }
      const int32_t source =
          from[operand] >= 0 ? from[operand] : slot[static_cast<size_t>(-2 - from[operand])];
      code.from[operand] = source;
      if (source >= first_register) continue;
      const Operand& it = operands_[static_cast<size_t>(source)];
      splat[operand] = it.splat;
      flat = flat && (it.splat ? it.feature_stride == 0 : it.feature_stride == lanes_);
    }
    if (slot[k] < 0) {
      size_t free = 0;  // in place of an operand that nobody needs any more, too
      while (free < owner.size() && last_use[owner[free]] > k) ++free;
      if (free == owner.size()) owner.push_back(k);
      owner[free] = k;
      slot[k] = first_register + static_cast<int32_t>(free);
    } else {
      flat = flat && operands_[static_cast<size_t>(slot[k])].feature_stride == lanes_;
    }
    code.to = slot[k];
    code.flat = (flat || features_ == 1) && lane_chunks_ == 1;
    code.function = instructions[k].macro == Macro::kNone
                        ? kernels<Real>().elementwise(instruction.op, splat)
                        : kernels<Real>().macro(instructions[k].macro);
    CHECK(code.function != nullptr, "{} is not elementwise", op_name(instruction.op));
    code_.push_back(code);
  }
  registers_ = static_cast<int64_t>(owner.size());
  list_chunks();
  CHECK(registers_ <= kRegisters, "{} registers", registers_);
}

// Where every operand of every chunk starts.
template <typename Real>
void Group<Real>::list_chunks() {
  for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
    int64_t rest = chunk;
    const int64_t lane = rest % lane_chunks_ * chunk_lanes_;
    rest /= lane_chunks_;
    const int64_t feature = rest % feature_chunks_ * chunk_features_;
    rest /= feature_chunks_;
    chunk_table_.push_back(
        {std::min(chunk_features_, features_ - feature), std::min(chunk_lanes_, lanes_ - lane)});
    for (const Operand& it : operands_) {
      int64_t offset = feature * it.feature_stride + (it.splat ? 0 : lane), outer = rest;
      for (size_t axis = outer_.size(); axis-- > 0;) {
        offset += outer % outer_[axis] * it.outer[axis];
        outer /= outer_[axis];
      }
      offsets_.push_back(offset);
    }
  }
}

template <typename Real>
void Group<Real>::run(const Context<Real>& context, int64_t begin, int64_t end) const {
  constexpr size_t kMaxOperands = 192;
  Real* base[kMaxOperands];
  Real* data[kMaxOperands + kRegisters];
  int64_t stride[kMaxOperands + kRegisters];
  const size_t count = operands_.size();
  DCHECK(count <= kMaxOperands, "{} operands", count);
  for (size_t k = 0; k < count; ++k) {
    const Operand& it = operands_[k];
    base[k] = it.uniform ? const_cast<Real*>(&it.value) : context.at(it.place);
    stride[k] = it.feature_stride;
  }
  for (int64_t k = 0; k < registers_; ++k) {
    data[count + static_cast<size_t>(k)] = context.registers + k * kChunk;
    stride[count + static_cast<size_t>(k)] = chunk_lanes_;
  }
  for (int64_t chunk = begin; chunk < end; ++chunk) {
    const Chunk& it = chunk_table_[static_cast<size_t>(chunk)];
    const int64_t lanes = it.lanes, features = it.features;
    const int64_t* const offset = offsets_.data() + chunk * static_cast<int64_t>(count);
    for (size_t k = 0; k < count; ++k) data[k] = base[k] + offset[k];
    for (const Code& code : code_) {
      const auto at = [&](int32_t k) { return k < 0 ? nullptr : data[k]; };
      const auto step = [&](int32_t k) { return k < 0 ? 0 : stride[k]; };
      if (code.flat) {
        code.function(1, features * lanes, data[code.to], 0, at(code.from[0]), 0, at(code.from[1]),
                      0, at(code.from[2]), 0);
      } else {
        code.function(features, lanes, data[code.to], stride[code.to], at(code.from[0]),
                      step(code.from[0]), at(code.from[1]), step(code.from[1]), at(code.from[2]),
                      step(code.from[2]));
      }
      if (context.non_finite != nullptr && *context.non_finite < 0) {
        for (int64_t f = 0; f < features; ++f) {
          for (int64_t l = 0; l < lanes; ++l) {
            if (!std::isfinite(data[code.to][f * stride[code.to] + l])) {
              *context.non_finite = code.node;
            }
          }
        }
      }
    }
  }
}

template class Group<float>;
template class Group<double>;

}  // namespace agora::compute::cpu
