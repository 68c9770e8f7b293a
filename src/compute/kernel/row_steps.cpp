#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "compute/kernel/schedule.h"
#include "compute/kernel/writer.h"
#include "compute/staging.h"

// Row steps but for products: what a block does with its tile.
namespace agora::compute::kernel {
namespace {

constexpr size_t kPartSize = 12'000;  // characters of a function, about

}  // namespace

void Writer::begin_threads(int64_t count) {
  const int64_t from = busy_ % options_.threads;
  line(fmt::format(
      "ROLLED for (unsigned i = {}; i < {}; i += kThreads) {{",
      from == 0 ? "unsigned(thread_index())"
                : fmt::format("unsigned(thread_index() + {}) % kThreads", options_.threads - from),
      count));
  busy_ += (count + 31) / 32 * 32;
}

std::string Writer::free_warp(int64_t warps) {
  const int64_t all = options_.threads / 32, from = busy_ / 32 % all;
  busy_ += warps * 32;
  if (from == 0) return "warp_index()";
  return fmt::format("(warp_index() + kWarps - {} % kWarps) % kWarps", from);
}

bool Writer::can_hold(int64_t warps) {
  if (holds_.empty()) first_held_ = busy_;
  return busy_ + warps * 32 <= first_held_ + options_.threads;
}

void Writer::phase_rows(size_t phase) {
  const std::vector<Step>& steps = plan_.phases[phase].rows;
  if (steps.empty()) return;
  line("for (int tile = block_index(); tile < tiles; tile += block_count()) {");
  line("const int64 first_row = int64(tile) * kLanes;");
  line("const int rows = int(a.rows - first_row < kLanes ? a.rows - first_row : kLanes);");
  line(
      fmt::format("const Work work{{slow, a.kept + int64(tile) * {}, own_sums, first_row, rows, "
                  "tile == block_index(), odd}};",
                  plan_.kept_features * options_.lanes));
  row_list(steps);
  line("}");
}

// Ends with a barrier: what follows is the next tile or round.
void Writer::row_list(const std::vector<Step>& steps) {
  std::string before = std::exchange(source_.text, "");
  const auto end_part = [&] {  // so much of it becomes a function: compilers dislike long ones
    before += as_function(source_.text);
    source_.text.clear();
  };
  std::string barrier;  // before the wave
  const std::vector<std::vector<const Step*>> waves = waves_of(plan_, steps);
  const auto has_products = [](const std::vector<const Step*>& wave) {
    return std::any_of(wave.begin(), wave.end(), [](const Step* step) {
      return step->kind == StepKind::kOperation && step->op == Op::kMatmul;
    });
  };
  for (size_t k = 0; k < waves.size(); ++k) {
    const std::vector<const Step*>& wave = waves[k];
    busy_ = 0;
    if (source_.text.size() > kPartSize && !inlined_) {
      line(std::exchange(barrier, ""));
      end_part();
    }
    const std::string done = std::exchange(source_.text, "");
    std::vector<const Step*> loops;
    for (const Step* step : wave) {
      step->kind == StepKind::kLoop ? loops.push_back(step) : row_step(*step);
    }
    if (in_loop_ && holds_weights_ && has_products(wave)) {
      auto next = std::find_if(waves.begin() + int64_t(k) + 1, waves.end(), has_products);
      if (next == waves.end()) next = std::find_if(waves.begin(), waves.end(), has_products);
      touch_weights(*next);
    }
    if (holds_.empty()) {
      source_.text = done + barrier + source_.text;
    } else {
      source_.text = fmt::format("{}{{ Held held;\n{{ {}held.fetch<{}>(item); }}\n{}{}}}\n", done,
                                 std::exchange(holds_, ""), std::exchange(held_steps_, 0), barrier,
                                 source_.text);
    }
    if (!loops.empty()) end_part();
    for (const Step* step : loops) loop(*step);
    if (!loops.empty()) before += std::exchange(source_.text, "");
    barrier = "block_barrier();\n";
  }
  source_.text += barrier;
  end_part();
  source_.text = std::move(before);
}

// A call of a new function with this text.
std::string Writer::as_function(const std::string& text) {
  if (text.empty()) return "";
  functions_ += fmt::format(
      "FUNCTION void part_{0}(const Arguments& a, const Work& work) {{\nTILE_MEMORY\n{1}}}\n",
      parts_, text);
  return fmt::format("part_{}(a, work);\n", parts_++);
}

void Writer::row_step(const Step& step) {
  switch (step.kind) {
    case StepKind::kElementwise:
      begin_threads(step.outputs[0].count() * options_.lanes);
      line("const unsigned f = i / kLanes, r = i % kLanes;");
      line(group(step, "f") + "}");
      return;
    case StepKind::kLoadRows:
      return load(step);
    case StepKind::kStoreRows:
      return store(step);
    case StepKind::kLoop:
      return loop(step);
    case StepKind::kOperation:
      return row_operation(step);
  }
}

void Writer::load(const Step& step) {
  const View& to = step.outputs[0];
  const int64_t features = to.count();
  begin_threads(features * options_.lanes);
  line(fmt::format("const unsigned f = i % {0}, r = i / {0};", features));
  line(fmt::format("const int64 from = (first_row + (r < rows ? r : rows - 1)) * {} + f;",
                   features));
  std::string value;
  if (step.variable) {
    value = memory_.variable(step.index, false) + "[from]";
  } else {
    const PlannedInput& input = plan_.inputs[static_cast<size_t>(step.index)];
    value = input.storage == Storage::kByte
                ? fmt::format("Real(((const unsigned char*)a.inputs[{}])[from]) * {}", step.index,
                              literal(input.scale))
                : fmt::format("((const Real*)a.inputs[{}])[from]", step.index);
  }
  line(fmt::format("{} = {}; }}", memory_.element(to, "f"), value));
}

// Between a tile and images, which lie row after row.
void Writer::copy_images(const Step& step) {
  const auto is_image = [&](const View& it) {
    return plan_.buffers[static_cast<size_t>(it.buffer)].space == Space::kImage;
  };
  const View &from = step.inputs[0], &to = step.outputs[0];
  const int64_t features = to.count();
  const auto place = [&](const View& it) {
    return fmt::format(
        "a.images[{} * a.capacity + (first_row + (r < rows ? r : rows - 1)) * {} + f]",
        plan_.buffers[static_cast<size_t>(it.buffer)].offset, features);
  };
  begin_threads(features * options_.lanes);
  line(fmt::format("const int f = i % {0}, r = i / {0};", features));
  if (is_image(from)) {
    line(fmt::format("{} = float({}); }}", memory_.element(to, "f"), place(from)));
  } else {
    line(fmt::format("if (r < rows) {} = {}; }}", place(to), memory_.element(from, "f")));
  }
}

void Writer::store(const Step& step) {
  const View& from = step.inputs[0];
  const int64_t features = from.count();
  begin_threads(features * options_.lanes);
  line(fmt::format("const unsigned f = i % {0}, r = i / {0};", features));
  line(fmt::format(
      "if (r < rows) {}[(first_row + r) * {} + f] = {}; }}",
      step.variable ? memory_.variable(step.index, true) : fmt::format("a.outputs[{}]", step.index),
      features, memory_.at(from, "f")));
}

void Writer::loop(const Step& step) {
  line(fmt::format("for (int round = 1; round <= {}; ++round) {{", step.times));
  line(fmt::format("for (int r = thread_index(); r < kLanes; r += kThreads) {} = Real(round);",
                   memory_.element(step.outputs[0], "0")));
  line("block_barrier();");
  const bool inner = std::exchange(in_loop_, true);
  row_list(step.body);
  in_loop_ = inner;
  line("}");
}

void Writer::row_operation(const Step& step) {
  switch (step.op) {
    case Op::kReshape:
    case Op::kConstant: {
      const View& to = step.outputs[0];
      const auto is_image = [&](const View& it) {
        return !it.uniform && plan_.buffers[static_cast<size_t>(it.buffer)].space == Space::kImage;
      };
      if (is_image(to) || (!step.inputs.empty() && is_image(step.inputs[0]))) {
        return copy_images(step);
      }
      begin_threads(to.count() * options_.lanes);
      line("const unsigned f = i / kLanes, r = i % kLanes;");
      line(fmt::format("{} = {}; }}", memory_.at(to, "f"),
                       step.inputs.empty() ? "Real(0)" : memory_.at(step.inputs[0], "f")));
      return;
    }
    case Op::kPad:
      begin_threads(step.outputs[0].count() * options_.lanes);
      line("const unsigned f = i / kLanes, r = i % kLanes;");
      line(fmt::format("{} = {}; }}", memory_.at(step.outputs[0], "f"), padded(step, "f")));
      return;
    case Op::kSum:
    case Op::kMaximum:
      return reduce(step);
    case Op::kSoftmax:
    case Op::kLogSoftmax:
      return softmax(step);
    case Op::kReflect:
      return reflect(step);
    case Op::kSumRows:
      return sum_rows(step);
    case Op::kGather:
    case Op::kScatter:
    case Op::kOneHot:
      return indexed(step);
    case Op::kMatmul:
      return matmul(step);
    case Op::kOuter:
      return outer(step);
    case Op::kConv:
    case Op::kConvInput:
      return convolution(step);
    case Op::kConvWeight:
      return conv_weight(step);
    case Op::kPool:
    case Op::kPoolGradient:
      return pool(step);
    default:
      CHECK(false, "{} has no step in a kernel", op_name(step.op));
  }
}

std::string Writer::padded(const Step& step, const std::string& f) {
  const View &x = step.inputs[0], &y = step.outputs[0];
  const size_t axis = static_cast<size_t>(step.ints[0]);
  int64_t inner = 1;
  for (size_t k = axis + 1; k < y.shape.size(); ++k) inner *= y.shape[k];
  const int64_t from = x.shape[axis], to = y.shape[axis], before = step.ints[1];
  const std::string along = fmt::format("(int({} / {} % {}) - {})", f, inner, to, before);
  const std::string i = fmt::format("(({} / {} * {} + {}) * {} + {} % {})", f, inner * to, from,
                                    along, inner, f, inner);
  return fmt::format("({} >= 0 && {} < {} ? {} : Real(0))", along, along, from,
                     step.body.empty() ? memory_.at(x, i) : element_of(step.body[0], i));
}

std::string Writer::element_of(const Step& step, const std::string& f) {
  if (step.kind == StepKind::kOperation) {
    return fmt::format("[&](unsigned f) {{ return {}; }}({})", padded(step, "f"), f);
  }
  return fmt::format("[&](unsigned f) {{ {}return v{}; }}({})", group(step, "f"),
                     step.code.size() - 1, f);
}

void Writer::reduce(const Step& step) {
  const View& x = step.inputs[0];
  const std::string inner = step.body.empty() ? "" : element_of(step.body[0], "f");
  const int number = number_of(step.node);
  Shape kept = x.shape, joined(x.shape.size(), 1);
  for (const int64_t axis : step.ints) {
    std::swap(kept[static_cast<size_t>(axis)], joined[static_cast<size_t>(axis)]);
  }
  const int64_t positions = feature_count(kept), count = feature_count(joined);
  // Neighbours share long sums where threads are to be had.
  int64_t parts = 1;
  while (parts * 2 * options_.lanes <= 32 && parts * 8 <= count &&
         positions * options_.lanes * parts * 2 <= options_.threads) {
    parts *= 2;
  }
  if (parts == 1) {
    begin_threads(positions * options_.lanes);
  } else {
    // All lanes of a warp take part in exchanges.
    const int64_t all = (positions * options_.lanes * parts + 31) / 32 * 32;
    begin_threads(all);
  }
  line(
      fmt::format("const unsigned r = i % kLanes, part = kWarp == 1 ? 0 : i / kLanes % {0}, p = i "
                  "/ kLanes / {0};",
                  parts));
  line(fmt::format("const bool inside = p < {};", positions));
  std::string element = fmt::format("return x[{} * kLanes];", index_of(joined, x.strides, "k"));
  if (step.body.empty()) {
    line(fmt::format("const Real* const x = {} + (inside ? {} : 0) * kLanes + r;", memory_.start(x),
                     index_of(kept, x.strides, "p")));
  } else {
    std::vector<int64_t> dense(x.shape.size(), 1);
    for (size_t k = x.shape.size(); k-- > 1;) dense[k - 1] = dense[k] * x.shape[k];
    line(fmt::format("const unsigned first = inside ? {} : 0;", index_of(kept, dense, "p")));
    element = fmt::format("const unsigned f = first + {}; return {};", index_of(joined, dense, "k"),
                          inner);
  }
  line(
      fmt::format("const Real v0 = join_apart<{}, {}, kLanes>(part, {}, [&](int k) {{ {} }}) * {};",
                  step.op == Op::kSum ? "Sum" : "Maximum",
                  parts == 1 ? "1" : fmt::format("(kWarp == 1 ? 1 : {})", parts), count, element,
                  literal(step.scale)));
  line("if (part == 0 && inside) { const unsigned f = p; (void)f;" + checked("v0", number));
  if (step.code.size() > 1) line(group(step, "f"));
  if (step.outputs[0].buffer >= 0) {
    line(fmt::format("{} = v0;", memory_.element(step.outputs[0], "p")));
  }
  line("} }");
}

void Writer::softmax(const Step& step) {
  const View &x = step.inputs[0], &y = step.outputs[0];
  const int number = number_of(step.node);
  const size_t axis = static_cast<size_t>(step.ints[0]);
  Shape kept = x.shape;
  kept[axis] = 1;
  const std::string width = x.rows ? " * kLanes" : "";
  if (x.rows) {
    begin_threads(feature_count(kept) * options_.lanes);
    line("const unsigned p = i / kLanes, r = i % kLanes;");
  } else {
    begin_threads(feature_count(kept));
    line("const unsigned p = i, r = 0;");
  }
  line(fmt::format("const Real* const x = {} + {}{} + r; Real* const y = {} + {}{} + r;",
                   memory_.start(x), index_of(kept, x.strides, "p"), width, memory_.start(y),
                   index_of(kept, y.strides, "p"), width));
  line(fmt::format("constexpr int kSize = {}, kFrom = {}{}, kTo = {}{};", x.shape[axis],
                   x.strides[axis], width, y.strides[axis], width));
  line("Real top = x[0]; for (int k = 1; k < kSize; ++k) top = op_max(x[k * kFrom], top);");
  line("Real total = 0;");
  if (step.op == Op::kSoftmax) {
    line(
        "for (int k = 0; k < kSize; ++k) { const Real e = exp(x[k * kFrom] - top); total += e; "
        "y[k * kTo] = e; }");
    line(
        "const Real scale = Real(1) / total; for (int k = 0; k < kSize; ++k) y[k * kTo] *= scale;");
  } else {
    line("for (int k = 0; k < kSize; ++k) total += exp(x[k * kFrom] - top);");
    line("const Real shift = top + log(total);");
    line("for (int k = 0; k < kSize; ++k) y[k * kTo] = x[k * kFrom] - shift;");
  }
  line(checked("y[0]", number) + "}");
}

void Writer::reflect(const Step& step) {
  const View& x = step.inputs[0];
  const int number = number_of(step.node);
  const View& shape_of = step.outputs[0];
  Shape others = x.shape;
  for (const int64_t axis : step.ints) others[static_cast<size_t>(axis)] = 1;
  const int64_t rows = step.ints.size() == 2 ? shape_of.shape[size_t(step.ints[0])] : 1;
  const int64_t columns = shape_of.shape[size_t(step.ints.back())];
  const int64_t stride = x.strides[static_cast<size_t>(step.ints.back())] * options_.lanes;
  begin_threads(feature_count(others) * options_.lanes);
  line("const unsigned p = i / kLanes, r = i % kLanes;");
  line(fmt::format("const int at = {} * kLanes + r;", index_of(others, x.strides, "p")));
  const auto start = [&](const View* it) {
    return it != nullptr && it->buffer >= 0 ? memory_.start(*it) + " + at"
                                            : std::string("(Real*)nullptr");
  };
  const View* const slope = step.inputs.size() == 2 ? &step.inputs[1] : nullptr;
  const View* const second = step.outputs.size() == 2 ? &step.outputs[1] : nullptr;
  line(fmt::format(
      "const Real v = reflect_step<{}, {}, {}, {}, {}, {}, {}>({}, {}, {}, {}); (void)v;", rows,
      columns, stride, step.activation == Op::kTanh, slope != nullptr, step.outputs[0].buffer >= 0,
      second != nullptr, start(&x), start(slope), start(&step.outputs[0]), start(second)));
  line(checked("v", number) + "}");
}

std::string Writer::sum_place(const View& view, const std::string& offset) const {
  const Buffer& buffer = plan_.buffers[static_cast<size_t>(view.buffer)];
  const int64_t start = sums_at_[phase_] + buffer.offset - plan_.phases[phase_].partial_begin;
  return fmt::format("own_sums[{} + {}]", start, offset);
}

void Writer::give_sum(const View& view, const std::string& offset, const std::string& value) {
  const std::string place = sum_place(view, offset);
  line(fmt::format("{0} = fresh ? {1} : {0} + {1};", place, value));
}

void Writer::sum_rows(const Step& step) {
  const View& x = step.inputs[0];
  begin_threads(x.count());
  line("Real total = 0;");
  line(fmt::format("UNROLL(8) for (int r = 0; r < kLanes; ++r) if (r < rows) total += {};",
                   memory_.at(x, "i")));
  give_sum(step.outputs[0], "i", "total");
  line("}");
}

void Writer::indexed(const Step& step) {
  source_.has_indices = true;
  const int number = number_of(step.node);
  const View& index = step.inputs[step.op == Op::kOneHot ? 0 : 1];
  const View& y = step.outputs[0];
  const View& table = step.op == Op::kScatter ? y : step.inputs[0];
  const int64_t depth = step.op == Op::kOneHot ? y.shape.back() : table.shape[0];
  const int64_t size = step.op == Op::kOneHot ? depth : table.count() / depth;
  const auto row_at = [&](const std::string& k) {
    return fmt::format("checked_index({}, {}, {}, a.faults)", memory_.element(index, k), depth,
                       number);
  };
  if (step.op == Op::kScatter) {  // each sum looks for its rows: the order is fixed
    begin_threads(y.count());
    line(fmt::format("const int row = i / {0}, j = i % {0}; Real total = 0;", size));
    line(fmt::format("for (int k = 0; k < {}; ++k) for (int r = 0; r < rows; ++r)", index.count()));
    line(fmt::format("if ({} == row) total += {};", row_at("k"),
                     memory_.element(step.inputs[0], fmt::format("k * {} + j", size))));
    give_sum(y, "i", "total");
    line("}");
    return;
  }
  begin_threads(y.count() * options_.lanes);
  line(fmt::format("const unsigned f = i / kLanes, r = i % kLanes, k = f / {0}, j = f % {0};",
                   size));
  line(fmt::format("const int row = {};", row_at("k")));
  line(fmt::format("{} = {}; }}", memory_.element(y, "f"),
                   step.op == Op::kOneHot
                       ? "row == j ? Real(1) : Real(0)"
                       : memory_.element(table, fmt::format("row * {} + j", size))));
}

}  // namespace agora::compute::kernel
