#include "compute/kernel/expressions.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace agora::compute::kernel {

std::string index_of(const Shape& shape, const std::vector<int64_t>& strides,
                     const std::string& i) {
  struct Axis {
    int64_t size, stride;
  };
  std::vector<Axis> axes;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 1) continue;
    if (!axes.empty() && axes.back().stride == strides[k] * shape[k]) {
      axes.back() = {axes.back().size * shape[k], strides[k]};
    } else {
      axes.push_back({shape[k], strides[k]});
    }
  }
  std::string text;
  int64_t inner = 1;
  for (size_t k = axes.size(); k-- > 0; inner *= axes[k].size) {
    if (axes[k].stride == 0) continue;
    std::string term = inner == 1 ? i : fmt::format("{} / {}", i, inner);
    if (k > 0) term = fmt::format("{} % {}", term, axes[k].size);
    if (axes[k].stride != 1) term = fmt::format("({}) * {}", term, axes[k].stride);
    text += text.empty() ? term : " + " + term;
  }
  return text.empty() ? "0" : "(" + text + ")";
}

std::string literal(double value) {
  if (std::isnan(value)) return "(Real(0) / Real(0))";
  if (std::isinf(value)) return value > 0 ? "(-Maximum::start())" : "Maximum::start()";
  return fmt::format("Real({:.17g})", value);
}

int64_t Memory::fast_features() const {
  return options_.fast_features + (options_.keeps_fast ? plan_.kept_features : 0);
}

bool Memory::is_fast(const View& view) const {
  const Buffer& buffer = plan_.buffers[static_cast<size_t>(view.buffer)];
  if (buffer.space == Space::kKept) return options_.keeps_fast;
  return buffer.space == Space::kScratch && buffer.offset + buffer.size <= options_.fast_features;
}

std::string Memory::start(const View& view) const {
  const Buffer& buffer = plan_.buffers[static_cast<size_t>(view.buffer)];
  const int64_t offset = (buffer.offset + view.offset) * (view.rows ? options_.lanes : 1);
  switch (buffer.space) {
    case Space::kScratch:
      return fmt::format("({} + {})", is_fast(view) ? "fast" : "slow", offset);
    case Space::kKept:
      if (!options_.keeps_fast) return fmt::format("(kept + {})", offset);
      return fmt::format("(fast + {})", options_.fast_features * options_.lanes + offset);
    case Space::kImage:
      break;  // copied row by row
    case Space::kShared:
      return fmt::format("(a.shared + {})", offset);
    case Space::kVariable:
      return fmt::format("({} + {})", variable(buffer.variable, false), view.offset);
    case Space::kNextVariable:
      return fmt::format("({} + {})", variable(buffer.variable, true), view.offset);
  }
  CHECK(false, "a buffer in no space of tiles");
}

std::string Memory::variable(int32_t index, bool next) const {
  if (!plan_.variables[static_cast<size_t>(index)].updated) {
    return fmt::format("a.current[{}]", index);
  }
  return fmt::format("(odd ? a.{}[{}] : a.{}[{}])", next ? "current" : "next", index,
                     next ? "next" : "current", index);
}

std::string Memory::element(const View& view, const std::string& offset,
                            const std::string& row) const {
  if (view.uniform) return literal(view.value);
  if (!view.rows) return fmt::format("{}[{}]", start(view), offset);
  return fmt::format("{}[({}) * kLanes + {}]", start(view), offset, row);
}

std::string Memory::at(const View& view, const std::string& i, const std::string& row) const {
  return element(view, view.uniform ? "0" : index_of(view.shape, view.strides, i), row);
}

const char* function_of(Op op) {
  switch (op) {
    case Op::kNeg:
      return "op_neg";
    case Op::kExp:
      return "op_exp";
    case Op::kLog:
      return "op_log";
    case Op::kSqrt:
      return "op_sqrt";
    case Op::kSquare:
      return "op_square";
    case Op::kAbs:
      return "op_abs";
    case Op::kTanh:
      return "op_tanh";
    case Op::kSigmoid:
      return "op_sigmoid";
    case Op::kSoftplus:
      return "op_softplus";
    case Op::kRelu:
      return "op_relu";
    case Op::kAdd:
      return "op_add";
    case Op::kSub:
      return "op_sub";
    case Op::kMul:
      return "op_mul";
    case Op::kDiv:
      return "op_div";
    case Op::kMin:
      return "op_min";
    case Op::kMax:
      return "op_max";
    case Op::kGreater:
      return "op_greater";
    case Op::kGreaterEqual:
      return "op_greater_equal";
    case Op::kEqual:
      return "op_equal";
    case Op::kWhere:
      return "op_where";
    case Op::kReshape:
      return "op_copy";
    default:
      return nullptr;
  }
}

}  // namespace agora::compute::kernel
