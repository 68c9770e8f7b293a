#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compute/kernel/writer.h"

// Matrix products, weight gradients and images. product() and outer() of products.cuh take
// functions that fetch an operand.
namespace agora::compute::kernel {
namespace {

Shape outer_shape(const View& view) { return Shape(view.shape.begin(), view.shape.end() - 1); }

// The offset of position p, of the axes before the last, in features.
std::string position(const View& view, const std::string& p) {
  return index_of(outer_shape(view),
                  std::vector<int64_t>(view.strides.begin(), view.strides.end() - 1), p);
}

// How far positions are apart where that is always the same.
std::optional<int64_t> position_stride(const View& view) {
  int64_t count = 1, stride = 0;
  for (size_t k = view.shape.size() - 1; k-- > 0;) {
    if (view.shape[k] == 1) continue;
    if (count > 1 && view.strides[k] != stride * count) return std::nullopt;
    if (count == 1) stride = view.strides[k];
    count *= view.shape[k];
  }
  return stride;
}

// Positions along two axes at most: how many the inner one has, and how far those of each are
// apart.
struct Axes {
  int64_t inner = 1, outer_stride = 0, inner_stride = 0;
};
std::optional<Axes> position_axes(const View& view, int64_t inner) {
  Axes axes{.inner = inner};
  int64_t count = 1;
  for (size_t k = view.shape.size() - 1; k-- > 0;) {
    if (view.shape[k] == 1) continue;
    const bool is_inner = count < inner;
    int64_t& stride = is_inner ? axes.inner_stride : axes.outer_stride;
    const int64_t before = is_inner ? count : count / inner;
    if (before == 1) {
      stride = view.strides[k];
    } else if (view.strides[k] != stride * before) {
      return std::nullopt;
    }
    count *= view.shape[k];
    if (is_inner && count > inner) return std::nullopt;
  }
  return axes;
}

// A product in tiles of tensor cores: `together` of them side by side share the loads of weights. A
// step of so many takes four units of the path to memory for the weights and two for each tile,
// all warps one after the other, and about as much of its warp's time as eight and five of them.
struct Tiling {
  int64_t together = 1, items = 1;  // work for a warp
};
Tiling tiling(int64_t high, int64_t wide, int64_t warps) {
  Tiling best;
  int64_t least = 0;
  for (int64_t some = 1; some <= 4 && some <= wide; ++some) {
    const int64_t items = high * ((wide + some - 1) / some), rounds = (items + warps - 1) / warps;
    const int64_t cost = std::max(items * (4 + 2 * some), rounds * (8 + 5 * some) * 2);
    if (some > 1 && cost >= least) continue;
    best = {some, items};
    least = cost;
  }
  return best;
}

constexpr int64_t kMostHeld = 128;                        // inputs
constexpr int64_t kManyWeights = 1024, kMostLate = 2048;  // rows at all positions
constexpr int64_t kLateSums = 16 * 512;                   // those of all warps

int64_t last_stride(const View& view) { return view.shape.back() == 1 ? 1 : view.strides.back(); }

}  // namespace

void Writer::hold(int64_t in, int64_t out, const std::string& warp, int64_t items,
                  const std::string& weights, const std::string& bias) {
  const std::string item =
      fmt::format("item_of<{}, {}>({}, {}, {});\n", in, out, warp, weights, bias);
  holds_ += holds_.empty() ? "Item item = " + item
                           : fmt::format("if ({} < {}) item = {}", warp, items, item);
  held_steps_ = std::max(held_steps_, (in + 15) / 16);
}

void Writer::matmul(const Step& step) {
  const View &x = step.inputs[0], &w = step.inputs[1], &y = step.outputs[0];
  const int64_t in = w.shape[0], out = w.shape[1];
  const int64_t positions = feature_count(outer_shape(y)), columns = positions * options_.lanes;
  const int number = number_of(step.node);
  const Tiling tiles = tiling((out + 15) / 16, (columns + 7) / 8, options_.threads / 32);
  const bool held = in_loop_ && holds_weights_ && in <= kMostHeld && can_hold(tiles.items);
  const std::string warp = free_warp(tiles.items), weights = tiled(w);
  const std::string bias = step.bias ? memory_.start(step.inputs[2]) : "NoBias{}";
  if (shares_products_ && !options_.check && !step.accumulate && step.code.size() <= 1 &&
      step.activation == Op::kReshape && y.buffer >= 0) {
    int64_t inner = 1;
    for (size_t k = y.shape.size() - 1; k-- > 0 && inner == 1;) inner = y.shape[k];
    const auto of_x = position_axes(x, inner), of_y = position_axes(y, inner);
    if (of_x && of_y) {
      line(fmt::format(
          "shared_product<{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}>({}, {}, "
          "{}, {}{}, {});",
          tiles.together, in, out, columns, last_stride(x), memory_.is_fast(x), inner,
          of_x->outer_stride, of_x->inner_stride, of_y->outer_stride, of_y->inner_stride,
          last_stride(y), step.bias ? "const Real*" : "NoBias", warp, memory_.start(x), weights,
          step.bias ? "(const Real*)" : "", bias, memory_.start(y)));
      return;
    }
  }
  line(fmt::format("{{ const Real* const x = {};", memory_.start(x)));
  if (y.buffer >= 0) line(fmt::format("Real* const y = {};", memory_.start(y)));
  const std::string shape = fmt::format("{}, {}, {}, {}, {}, {}", tiles.together, in, out, columns,
                                        last_stride(x), memory_.is_fast(x));
  if (held) {
    hold(in, out, warp, tiles.items, weights, bias);
    line(fmt::format("held_product<{}>(held, {},", shape, warp));
  } else {
    line(fmt::format("matrix_product<{}>({},", shape, warp));
  }
  line(fmt::format("[&](unsigned n) {{ return x + {} * kLanes + n % kLanes; }}, {},\n{},",
                   position(x, "(n / kLanes)"), weights, bias));
  line("[&](unsigned o, unsigned n, Real v0, bool inside) {");
  const std::string place = fmt::format("y[({} + o * {}) * kLanes + n % kLanes]",
                                        position(y, "(n / kLanes)"), last_stride(y));
  if (step.accumulate) line(fmt::format("v0 += {};", place));
  if (const char* function = function_of(step.activation); step.activation != Op::kReshape) {
    line(fmt::format("v0 = {}(v0);", function));
  }
  line(checked("v0", number));
  if (step.code.size() > 1) {
    line(fmt::format("const unsigned f = n / kLanes * {} + o, r = n % kLanes;", out));
    line(group(step, "f", "inside"));
  }
  if (y.buffer >= 0)
    line(fmt::format("{{ const Real v = settled(v0); if (inside) {} = v; }}", place));
  line("}); }");
}

void Writer::outer(const Step& step) {
  if (is_late(step)) return leave_factors(step);
  const View &x = step.inputs[0], &dy = step.inputs[1];
  const int64_t in = x.shape.back(), out = dy.shape.back();
  const int64_t positions = feature_count(outer_shape(x));
  line(fmt::format("{{ const Real* const x = {}; const Real* const dy = {};", memory_.start(x),
                   memory_.start(dy)));
  const Tiling tiles = tiling((in + 15) / 16, (out + 7) / 8, options_.threads / 32);
  const auto x_position = position_stride(x), dy_position = position_stride(dy);
  if (x_position && dy_position) {
    line(fmt::format(
        "weight_gradient<{}, {}, {}, {}, {}, {}, {}, {}, {}, {}>({}, x, dy, &{}, rows, fresh); }}",
        tiles.together, in, out, positions, *x_position, last_stride(x), memory_.is_fast(x),
        *dy_position, last_stride(dy), memory_.is_fast(dy), free_warp(tiles.items),
        sum_place(step.outputs[0], "0")));
    return;
  }
  line(fmt::format("outer<{}, {}, {}, {}>({},", tiles.together, in, out, positions,
                   free_warp(tiles.items)));
  line(fmt::format("[&](int k, int n) {{ return x[({} + k * {}) * kLanes + n % kLanes]; }},",
                   position(x, "(n / kLanes)"), last_stride(x)));
  line(
      fmt::format("[&](int o, int n) {{ return n % kLanes < rows ? dy[({} + o * {}) * kLanes + n % "
                  "kLanes] : Real(0); }},",
                  position(dy, "(n / kLanes)"), last_stride(dy)));
  line("[&](int k, int o, Real value) {");
  give_sum(step.outputs[0], fmt::format("k * {} + o", out), "value");
  line("}); }");
}

// Worth it where the sums of all blocks would be much to write and to read.
bool Writer::is_late(const Step& step) const {
  const View &x = step.inputs[0], &dy = step.inputs[1];
  return is_short_ && x.shape.back() * dy.shape.back() >= kManyWeights && options_.rows > 0 &&
         feature_count(outer_shape(x)) * late_rows() <= kMostLate &&
         options_.fast_features * options_.lanes >= kLateSums && position_stride(x) &&
         position_stride(dy) && has_late_reader(step);
}

// One that reads it as it lies, and no other gradient of the phase.
bool Writer::has_late_reader(const Step& step) const {
  const int32_t buffer = step.outputs[0].buffer;
  if (!has_own_reader(buffer, plan_.phases[phase_ + 1].shared)) return false;
  const Step& reader = *readers_.find(buffer)->second;
  const std::vector<Step>& rows = plan_.phases[phase_].rows;
  for (const View& view : reader.inputs) {
    if (view.uniform) continue;
    if (view.buffer == buffer) {
      if (view.offset != 0 || !view.dense() || view.count() != reader.outputs[0].count()) {
        return false;
      }
    } else if (std::any_of(rows.begin(), rows.end(), [&](const Step& it) {
                 return it.kind == StepKind::kOperation && it.op == Op::kOuter &&
                        it.outputs[0].buffer == view.buffer;
               })) {
      return false;
    }
  }
  return true;
}

void Writer::leave_factors(const Step& step) {
  Late late{.in = step.inputs[0].shape.back(),
            .out = step.inputs[1].shape.back(),
            .positions = feature_count(outer_shape(step.inputs[0]))};
  for (size_t k = 0; k < 2; ++k) {
    const View& view = step.inputs[k];
    const int64_t features = view.shape.back();
    (k == 0 ? late.x : late.dy) = source_.tiled;
    begin_threads(features * late.positions * (options_.lanes / 4));
    line(fmt::format("leave_factors<{}, {}, {}, {}, {}>(i, {}, a.tiled + {}, first_row, {}); }}",
                     features, late.positions, *position_stride(view), last_stride(view),
                     late_rows(), memory_.start(view), source_.tiled, k == 0 ? "kLanes" : "rows"));
    source_.tiled += features * late.positions * late_rows();
  }
  late_[step.outputs[0].buffer] = late;
}

// (height, width, channels) of x with a 3x3 window, as a product of 9 x channels inputs; the
// gradient by the input is the same with the window turned round.
void Writer::convolution(const Step& step) {
  const View &x = step.inputs[0], &w = step.inputs[1], &y = step.outputs[0];
  const int64_t height = x.shape[0], width = x.shape[1], from = x.shape[2], to = y.shape[2];
  const int number = number_of(step.node);
  const bool forward = step.op == Op::kConv;
  const int64_t columns = height * width * options_.lanes;
  line(fmt::format("{{ const Real* const x = {}; const Real* const w = {}; Real* const y = {};",
                   memory_.start(x), memory_.start(w), memory_.start(y)));
  line(fmt::format("constexpr int kHeight = {}, kWidth = {}, kFrom = {}, kTo = {};", height, width,
                   from, to));
  const Tiling tiles = tiling((to + 15) / 16, (columns + 7) / 8, options_.threads / 32);
  line(fmt::format("product<{}, 9 * kFrom, kTo, {}>({},", tiles.together, columns,
                   free_warp(tiles.items)));
  line("[&](int k, int n) {");
  line(
      fmt::format("const int tap = k / kFrom, p = n / kLanes, down = p / kWidth {0} (tap / 3 - 1), "
                  "across = p % kWidth {0} (tap % 3 - 1);",
                  forward ? "+" : "-"));
  line("if (down < 0 || down >= kHeight || across < 0 || across >= kWidth) return Real(0);");
  line("return x[((down * kWidth + across) * kFrom + k % kFrom) * kLanes + n % kLanes]; },");
  line(forward ? "[&](int k, int o) { return w[k * kTo + o]; },"
               : "[&](int k, int o) { return w[(k / kFrom * kTo + o) * kFrom + k % kFrom]; },");
  line("[&](int o, int n, Real value) {");
  line(checked("value", number));
  line("y[(n / kLanes * kTo + o) * kLanes + n % kLanes] = value; }); }");
}

void Writer::conv_weight(const Step& step) {
  const View &x = step.inputs[0], &dy = step.inputs[1];
  const int64_t height = x.shape[0], width = x.shape[1], in = x.shape[2], out = dy.shape[2];
  line(fmt::format("{{ const Real* const x = {}; const Real* const dy = {};", memory_.start(x),
                   memory_.start(dy)));
  line(fmt::format("constexpr int kHeight = {}, kWidth = {}, kIn = {}, kOut = {};", height, width,
                   in, out));
  const Tiling tiles = tiling((9 * in + 15) / 16, (out + 7) / 8, options_.threads / 32);
  line(fmt::format("outer<{}, 9 * kIn, kOut, kHeight * kWidth>({},", tiles.together,
                   free_warp(tiles.items)));
  line("[&](int k, int n) {");
  line(
      "const int tap = k / kIn, p = n / kLanes, down = p / kWidth + tap / 3 - 1, across = p % "
      "kWidth + tap % 3 - 1;");
  line("if (down < 0 || down >= kHeight || across < 0 || across >= kWidth) return Real(0);");
  line("return x[((down * kWidth + across) * kIn + k % kIn) * kLanes + n % kLanes]; },");
  line(
      "[&](int o, int n) { return n % kLanes < rows ? dy[(n / kLanes * kOut + o) * kLanes + n % "
      "kLanes] : Real(0); },");
  line("[&](int k, int o, Real value) {");
  give_sum(step.outputs[0], "k * kOut + o", "value");
  line("}); }");
}

// Max-pool 3x3, stride 2, padding 1. The gradient goes to the first maximum in reading order: a
// pixel looks at the windows that it is in.
void Writer::pool(const Step& step) {
  const View& x = step.inputs[0];
  const View& y = step.outputs[0];
  const int number = number_of(step.node);
  line(fmt::format("{{ constexpr int kHeight = {}, kWidth = {}, kChannels = {};", x.shape[0],
                   x.shape[1], x.shape[2]));
  line("constexpr int kDown = (kHeight + 1) / 2, kAcross = (kWidth + 1) / 2;");
  line(fmt::format("const Real* const x = {}; Real* const y = {};", memory_.start(x),
                   memory_.start(y)));
  // The place of the first maximum of window (h, w) for channel and row `at`.
  line("const auto top = [&](int h, int w, int at) { int best = -1; Real value = 0;");
  line("for (int d = 2 * h - 1; d < 2 * h + 2; ++d) for (int e = 2 * w - 1; e < 2 * w + 2; ++e) {");
  line("if (d < 0 || d >= kHeight || e < 0 || e >= kWidth) continue;");
  line("const Real it = x[(d * kWidth + e) * kChannels * kLanes + at];");
  line("if (best < 0 || !(it <= value)) { best = d * kWidth + e; value = it; } } return best; };");
  if (step.op == Op::kPool) {
    begin_threads(y.count() * options_.lanes);
    line("const int at = i % (kChannels * kLanes), p = i / (kChannels * kLanes);");
    line("const Real value = x[top(p / kAcross, p % kAcross, at) * kChannels * kLanes + at];");
    line(checked("value", number) + " y[i] = value; } }");
    return;
  }
  line(fmt::format("const Real* const dy = {};", memory_.start(step.inputs[1])));
  begin_threads(y.count() * options_.lanes);
  line("const int at = i % (kChannels * kLanes), p = i / (kChannels * kLanes);");
  line("const int d = p / kWidth, e = p % kWidth; Real value = 0;");
  line("for (int h = d / 2; h <= (d + 1) / 2 && h < kDown; ++h)");
  line("for (int w = e / 2; w <= (e + 1) / 2 && w < kAcross; ++w)");
  line("if (top(h, w, at) == p) value += dy[(h * kAcross + w) * kChannels * kLanes + at];");
  line(checked("value", number) + " y[i] = value; } }");
}

}  // namespace agora::compute::kernel
