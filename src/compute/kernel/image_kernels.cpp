#include "compute/kernel/image_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "compute/images.h"
#include "compute/kernel/expressions.h"
#include "compute/kernel/prelude_text.h"

namespace agora::compute::kernel {
namespace {

constexpr int64_t kSquareBytes = 32768;  // dense_images.cuh: two pieces of both operands

// Writes the kernel of one step.
class ImageWriter {
 public:
  ImageWriter(const Plan& plan, const Step& step, int64_t rows)
      : plan_(plan), step_(step), rows_(rows) {}

  ImageKernel run() {
    const std::string call = body();
    std::string text = "using Real = float;\nconstexpr bool kShort = false;\n";
    text += fmt::format("constexpr int kLanes = 8, kBlockThreads = {}, kResident = {};\n",
                        kImageThreads, result_.resident);
    for (const char* const part : {kPrelude, kImages, kConvolutions, kDenseImages}) text += part;
    text += fmt::format(
        "struct Arguments {{ int64 rows; const void *x, *w; float* sums; const void* in[{}]; void* "
        "out[{}]; }};\n",
        step_.inputs.size() + 1, step_.outputs.size() + 1);
    text += "struct Give {\nconst Arguments& a;\n" + give() + "};\n";
    text += "#ifdef __CUDACC__\nIMAGE_KERNEL program(const __grid_constant__ Arguments a) {\n";
    text += "#else\nIMAGE_KERNEL program(const Arguments& a) {\n#endif\n" + call + "}\n";
    result_.text = std::move(text);
    return std::move(result_);
  }

 private:
  // The call of what images.cuh and its like have for the step.
  std::string body() {
    const bool group = step_.kind == StepKind::kElementwise;
    const View& x = group ? step_.outputs[0] : step_.inputs[0];
    const View& y = step_.outputs[0];
    const std::string images =
        x.shape.size() == 3 ? fmt::format("{}, {}, {}", x.shape[0], x.shape[1], x.shape[2]) : "";
    const std::string from = "(const bf16*)a.x, ", slope = "(const bf16*)a.w, ";
    if (group) {
      by_elements(x.count() / 8);
      return fmt::format("elementwise<{}>(a.rows, Give{{a}});\n", x.count());
    }
    switch (step_.op) {
      case Op::kConv:
      case Op::kConvInput:
        by_bands(y.shape[2] / 8 * 256, 0);
        return fmt::format("{}convolution<B, {}, {}>(a.rows, {}, (const float*)a.w, Give{{a}});\n",
                           band(), y.shape[2], step_.op == Op::kConv, pixels());
      case Op::kConvWeight: {
        const int64_t out = y.shape.back();
        by_bands(0, out);
        result_.sums = y.count() + out;
        return fmt::format("{}convolution_weights<B, {}>(a.rows, {}, {}a.sums);\n", band(), out,
                           pixels(), slope);
      }
      case Op::kPool:
        by_elements(y.count() / 8);
        return fmt::format("pool<{}>(a.rows, {}Give{{a}});\n", images, from);
      case Op::kPoolGradient:
        by_elements(step_.inputs[1].shape[1] * step_.inputs[1].shape[2] / 4);
        result_.resident = 2;
        return fmt::format("pool_gradient<{}>(a.rows, {}{}Give{{a}});\n", images, from, slope);
      case Op::kMatmul: {
        const View& w = step_.inputs[1];
        by_squares(w.shape[1] / 64, 64);
        return fmt::format("dense<{}, {}, {}, {}>(a.rows, {}(const float*)a.w, Give{{a}});\n",
                           w.shape[0], w.shape[1], w.strides[0], w.strides[1], from);
      }
      case Op::kOuter: {
        const int64_t in = x.count(), out = step_.inputs[1].count();
        by_squares(in / 64 * (out / 64), 1 << 30);
        return fmt::format("dense_weights<{}, {}>(a.rows, {}{}a.sums);\n", in, out, from, slope);
      }
      default:
        CHECK(false, "{} is no step of images", op_name(step_.op));
    }
  }

  void by_elements(int64_t of_a_row) {
    result_.items = of_a_row;
    result_.items_of = kImageThreads;  // a block takes so many elements at a time
    result_.resident = 4;
  }
  void by_squares(int64_t items, int64_t rows) {
    result_.items = items;
    result_.items_of = rows;
    result_.fast_bytes = kSquareBytes;
  }
  // `weights`: bytes of them per step of sixteen inputs; `slopes`: channels held beside the band.
  void by_bands(int64_t weights, int64_t slopes) {
    const Shape& shape = step_.inputs[0].shape;
    const ImageBand it = image_band(shape, rows_);
    const int64_t taps = it.narrow ? 3 : 9, deep = it.narrow ? 16 : shape[2];
    const int64_t pixels = (it.images * it.rows * shape[1] + 15) / 16 * 16;
    const int64_t sums = slopes == 0 ? 0 : (9 * shape[2] + 1) * slopes * 4;
    result_.fast_bytes = std::max(
        weights * taps * deep / 16 + (it.bytes + 127) / 128 * 128 + pixels * slopes * 2, sums);
    result_.items = (shape[0] + it.rows - 1) / it.rows;
    result_.items_of = it.images;
  }
  std::string band() const {
    const Shape& shape = step_.inputs[0].shape;
    const ImageBand it = image_band(shape, rows_);
    return fmt::format("using B = Band<{}, {}, {}, {}, {}, {}>;\n", shape[0], shape[1], shape[2],
                       it.images, it.rows, it.narrow);
  }
  std::string pixels() const {
    if (!image_band(step_.inputs[0].shape, rows_).narrow) return "(const bf16*)a.x";
    if (step_.index < 0) return "Pixels<bf16>{(const bf16*)a.x, 1.0f}";
    const PlannedInput& input = plan_.inputs[static_cast<size_t>(step_.index)];
    return input.storage == Storage::kByte
               ? fmt::format("Pixels<unsigned char>{{(const unsigned char*)a.x, {}}}",
                             literal(input.scale))
               : "Pixels<float>{(const float*)a.x, 1.0f}";
  }

  // What is done to the values of an operation, or to the operands of a group, and where it goes.
  std::string give() const {
    const bool group = step_.kind == StepKind::kElementwise;
    const View& shape = step_.outputs[0];
    std::string loads, values, stores;
    const auto operand = [&](size_t k) {
      const View& it = step_.inputs[k];
      if (it.uniform) return literal(it.value);
      if (!it.rows && it.strides.back() == 0) return fmt::format("*(const float*)a.in[{}]", k);
      return fmt::format("in_{}[e]", k);
    };
    std::vector<bool> read(step_.inputs.size());
    for (size_t k = group ? 0 : 1; k < step_.code.size(); ++k) {
      for (const int32_t slot : {step_.code[k].a, step_.code[k].b, step_.code[k].c}) {
        if (slot >= 0) read[static_cast<size_t>(slot)] = true;
      }
    }
    if (!group) values += "float v0 = value[e];\n";
    if (step_.bias) {
      read[2] = true;
      values += "v0 += in_2[e];\n";
    }
    if (step_.activation != Op::kReshape) {
      values += fmt::format("v0 = {}(v0);\n", function_of(step_.activation));
    }
    for (size_t k = 0; k < read.size(); ++k) {
      const View& it = step_.inputs[k];
      if (!read[k] || operand(k).starts_with("in_") == false) continue;
      loads += fmt::format("float in_{0}[kCount]; load(in_{0}, (const {1}*)a.in[{0}] + {2});\n", k,
                           it.rows ? "bf16" : "float", it.rows ? "at" : "c");
    }
    const auto of = [&](int32_t slot) {
      return slot >= 0 ? operand(static_cast<size_t>(slot)) : fmt::format("v{}", -2 - slot);
    };
    for (size_t k = group ? 0 : 1; k < step_.code.size(); ++k) {
      const Instruction& code = step_.code[k];
      const char* const function = function_of(code.op);
      CHECK(function != nullptr, "{} is not elementwise", op_name(code.op));
      std::string operands = of(code.a);
      if (code.b != -1) operands += ", " + of(code.b);
      if (code.c != -1) operands += ", " + of(code.c);
      values += fmt::format("const float v{} = {}({});\n", k, function, operands);
    }
    for (size_t k = 0; k < step_.outputs.size(); ++k) {
      if (step_.outputs[k].buffer < 0 || !step_.outputs[k].rows) continue;
      loads += fmt::format("float out_{}[kCount];\n", k);
      values += fmt::format("out_{0}[e] = v{0};\n", k);
      stores += fmt::format("store((bf16*)a.out[{0}] + at, out_{0});\n", k);
    }
    return fmt::format(
        "template <int kCount>\n"
        "DEVICE void operator()(int64 row, int f, float (&value)[kCount]) const {{\n"
        "const int64 at = row * {} + f; const int c = f % {}; (void)at, (void)c;\n{}"
        "UNROLL(16) for (int e = 0; e < kCount; ++e) {{\n{}}}\n{}}}\n",
        shape.count(), shape.shape.back(), loads, values, stores);
  }

  const Plan& plan_;
  const Step& step_;
  int64_t rows_;
  ImageKernel result_;
};

}  // namespace

ImageKernel image_kernel(const Plan& plan, const Step& step, int64_t rows) {
  return ImageWriter(plan, step, rows).run();
}

ImageKernel image_sums(const Step& step) {
  const int64_t weights = step.outputs[0].count(), biases = step.outputs[0].shape.back();
  std::string text = "using Real = float;\nconstexpr bool kShort = false;\n";
  text +=
      fmt::format("constexpr int kLanes = 8, kBlockThreads = {}, kResident = 4;\n", kImageThreads);
  for (const char* const part : {kPrelude, kImages}) text += part;
  text += "struct Arguments { int64 parts; const float* sums; float *weights, *biases; };\n";
  text += "#ifdef __CUDACC__\nIMAGE_KERNEL program(const __grid_constant__ Arguments a) {\n";
  text += "#else\nIMAGE_KERNEL program(const Arguments& a) {\n#endif\n";
  text += fmt::format(
      "add_parts(int(a.parts), {}, a.sums, [&](int e, float sum) {{\n"
      "if (e < {}) a.weights[e] = sum; else if (a.biases != 0) a.biases[e - {}] = sum; }}); }}\n",
      weights + biases, weights, weights);
  return {
      .text = std::move(text), .resident = 8, .items_of = 1, .items = (weights + biases + 7) / 8};
}

}  // namespace agora::compute::kernel
