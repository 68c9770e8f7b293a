#include "compute/kernel/image_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "compute/image_stacks.h"
#include "compute/images.h"
#include "compute/kernel/expressions.h"
#include "compute/kernel/prelude_text.h"

namespace agora::compute::kernel {
namespace {

constexpr int64_t kSquareBytes = 32768;  // dense_images.cuh: two pieces of both operands

// What a convolution reads.
std::string pixels_text(const Plan& plan, const Step& step) {
  if (!image_band(step.inputs[0].shape, 1).narrow) return "(const bf16*)a.x";
  if (step.index < 0) return "Pixels<bf16>{(const bf16*)a.x, 1.0f}";
  const PlannedInput& input = plan.inputs[static_cast<size_t>(step.index)];
  return input.storage == Storage::kByte
             ? fmt::format("Pixels<unsigned char>{{(const unsigned char*)a.x, {}}}",
                           literal(input.scale))
             : "Pixels<float>{(const float*)a.x, 1.0f}";
}

// Where a stack keeps images, of which some are nowhere else.
struct Kept {
  const ImageStack& stack;
  const std::vector<bool>& inside;
  int32_t strip;           // a buffer
  std::string strip_text;  // its width, channels and rows
  size_t first_in = 0, first_out = 0;
};

// What is done to the values of an operation, or to the operands of a group, and where it goes.
std::string give_text(const Step& step, const Kept* kept = nullptr) {
  const bool group = step.kind == StepKind::kElementwise;
  const View& shape = step.outputs[0];
  const size_t first_in = kept == nullptr ? 0 : kept->first_in;
  const size_t first_out = kept == nullptr ? 0 : kept->first_out;
  std::string loads, values, stores;
  const auto operand = [&](size_t k) {
    const View& it = step.inputs[k];
    if (it.uniform) return literal(it.value);
    if (!it.rows && it.strides.back() == 0)
      return fmt::format("*(const float*)a.in[{}]", first_in + k);
    return fmt::format("in_{}[e]", k);
  };
  std::vector<bool> read(step.inputs.size());
  for (size_t k = group ? 0 : 1; k < step.code.size(); ++k) {
    for (const int32_t slot : {step.code[k].a, step.code[k].b, step.code[k].c}) {
      if (slot >= 0) read[static_cast<size_t>(slot)] = true;
    }
  }
  if (!group) values += "float v0 = value[e];\n";
  if (step.bias) {
    read[2] = true;
    values += "v0 += in_2[e];\n";
  }
  if (step.activation != Op::kReshape) {
    values += fmt::format("v0 = {}(v0);\n", function_of(step.activation));
  }
  for (size_t k = 0; k < read.size(); ++k) {
    const View& it = step.inputs[k];
    if (!read[k] || operand(k).starts_with("in_") == false) continue;
    loads += fmt::format("float in_{}[kCount]; ", k);
    if (kept != nullptr && it.rows && kept->stack.places.contains(it.buffer)) {
      loads += fmt::format("load_fast<T>(in_{}, fast_bytes + {}, f);\n", k,
                           kept->stack.places.at(it.buffer));
      continue;
    }
    loads += fmt::format("load(in_{}, (const {}*)a.in[{}] + {});\n", k, it.rows ? "bf16" : "float",
                         first_in + k, it.rows ? "at" : "c");
  }
  const auto of = [&](int32_t slot) {
    return slot >= 0 ? operand(static_cast<size_t>(slot)) : fmt::format("v{}", -2 - slot);
  };
  for (size_t k = group ? 0 : 1; k < step.code.size(); ++k) {
    const Instruction& code = step.code[k];
    const char* const function = function_of(code.op);
    CHECK(function != nullptr, "{} is not elementwise", op_name(code.op));
    std::string operands = of(code.a);
    if (code.b != -1) operands += ", " + of(code.b);
    if (code.c != -1) operands += ", " + of(code.c);
    values += fmt::format("const float v{} = {}({});\n", k, function, operands);
  }
  for (size_t k = 0; k < step.outputs.size(); ++k) {
    if (step.outputs[k].buffer < 0 || !step.outputs[k].rows) continue;
    loads += fmt::format("float out_{}[kCount];\n", k);
    values += fmt::format("out_{0}[e] = v{0};\n", k);
    const int32_t buffer = step.outputs[k].buffer;
    if (kept != nullptr) {
      if (buffer == kept->strip) {
        stores += fmt::format("store_strip<{}>(fast_bytes + {}, f, out_{});\n", kept->strip_text,
                              kept->stack.strip, k);
      } else if (kept->stack.places.contains(buffer)) {
        stores += fmt::format("store_fast<T>(fast_bytes + {}, f, out_{});\n",
                              kept->stack.places.at(buffer), k);
      }
      if (kept->inside[static_cast<size_t>(buffer)]) continue;
    }
    stores += fmt::format("store((bf16*)a.out[{}] + at, out_{});\n", first_out + k, k);
  }
  return fmt::format(
      "template <int kCount>\n"
      "DEVICE void operator()(int64 row, int f, float (&value)[kCount]) const {{\n"
      "const int64 at = row * {} + f; const int c = f % {}; (void)at, (void)c;\n{}"
      "UNROLL(16) for (int e = 0; e < kCount; ++e) {{\n{}}}\n{}}}\n",
      shape.count(), shape.shape.back(), loads, values, stores);
}

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
    for (const char* const part : {kPrelude, kTensorCores, kImages, kConvolutions, kDenseImages})
      text += part;
    text += fmt::format(
        "struct Arguments {{ int64 rows; const void *x, *w; float* sums; const void* in[{}]; void* "
        "out[{}]; }};\n",
        step_.inputs.size() + 1, step_.outputs.size() + 1);
    text += "struct Give {\nconst Arguments& a;\n" + give_text(step_) + "};\n";
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
                           band(), y.shape[2], step_.op == Op::kConv, pixels_text(plan_, step_));
      case Op::kConvWeight: {
        const int64_t out = y.shape.back();
        by_bands(0, out);
        result_.sums = y.count() + out;
        return fmt::format("{}convolution_weights<B, {}>(a.rows, {}, {}a.sums);\n", band(), out,
                           pixels_text(plan_, step_), slope);
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
  const Plan& plan_;
  const Step& step_;
  int64_t rows_;
  ImageKernel result_;
};

}  // namespace

ImageKernel image_kernel(const Plan& plan, const Step& step, int64_t rows) {
  return ImageWriter(plan, step, rows).run();
}

ImageKernel stack_kernel(const Plan& plan, std::span<const Step> steps, int64_t fast_bytes) {
  const ImageStack stack = image_stack(steps, fast_bytes);
  const std::vector<bool> inside = inside_stacks(plan);
  const Shape &from = steps[0].inputs[0].shape, &large = steps[0].outputs[0].shape,
              &small = steps[1].outputs[0].shape;
  Kept kept{.stack = stack,
            .inside = inside,
            .strip = steps[1].inputs[0].buffer,
            .strip_text = fmt::format("{}, {}, {}", large[1], large[2], stack.rows)};
  std::string gives, weights, follows, on_the_host;
  for (size_t k = 0; k < steps.size(); ++k) {
    const Step& step = steps[k];
    gives +=
        fmt::format("struct Give{} {{\nconst Arguments& a;\n{}}};\n", k, give_text(step, &kept));
    kept.first_in += step.inputs.size();
    kept.first_out += step.outputs.size();
    const bool group = step.kind == StepKind::kElementwise;
    if (!group && step.op == Op::kConv) {
      weights +=
          fmt::format("keep_weights<{}, {}, true>(fast_bytes + {}, (const float*)a.w[{}]);\n",
                      k == 0 ? "B" : "T", large[2], stack.weights[k], k);
    }
    if (k < 2) continue;
    if (group) {
      follows += fmt::format("small_elements<T>(row, Give{}{{a}});\n", k);
      on_the_host += follows.substr(follows.rfind("small_"));
      continue;
    }
    const int64_t place = stack.places.at(step.inputs[0].buffer);
    follows +=
        fmt::format("small_convolution<T>(row, a.rows, fast + {}, fast + {}, Give{}{{a}});\n",
                    stack.weights[k], place, k);
    on_the_host += fmt::format(
        "convolution_of<T, {}, true>(0, (const bf16*)(fast_bytes + {}), (const float*)a.w[{}], "
        "row, "
        "Give{}{{a}});\n",
        large[2], place, k, k);
  }
  for (int64_t k = 0; k < stack.place_count; ++k) {
    weights +=
        fmt::format("clear_around<T>(fast + {});\n", stack.first_place + k * stack.place_bytes);
  }
  std::string text = "using Real = float;\nconstexpr bool kShort = false;\n";
  text +=
      fmt::format("constexpr int kLanes = 8, kBlockThreads = {}, kResident = 1;\n", kStackThreads);
  for (const char* const part : {kPrelude, kTensorCores, kImages, kConvolutions}) text += part;
  text += fmt::format(
      "#ifndef __CUDACC__\nalignas(16) static unsigned char fast_bytes[{}];\n"
      "#endif\n",
      stack.bytes + large[0] * large[1] * large[2] * 2);
  text += kStacks;
  text += fmt::format(
      "struct Arguments {{ int64 rows; const void* x; const void* w[{}]; const void* in[{}]; void* "
      "out[{}]; }};\n",
      steps.size(), kept.first_in, kept.first_out);
  text += fmt::format("using B = Band<{}, {}, {}, 1, {}, {}>;\n", from[0], from[1], from[2],
                      stack.rows, image_band(from, 1).narrow);
  text +=
      fmt::format("using T = Band<{0}, {1}, {2}, 1, {0}, false>;\n", small[0], small[1], small[2]);
  text += gives;
  text +=
      "#ifdef __CUDACC__\nIMAGE_KERNEL program(const __grid_constant__ Arguments a) "
      "{\n";
  text += "const unsigned fast = shared_address(fast_bytes);\n" + weights;
  text += fmt::format(
      "const unsigned band = fast + {};\nclear_border<B>(band);\nconst auto from = {};\n"
      "if (block_index() < a.rows) fill<B>(band, from, block_index(), a.rows, 0);\n"
      "ROLLED for (int64 row = block_index(); row < a.rows; row += block_count()) {{\n"
      "pooled_convolution<B, {}>(row, a.rows, from, fast + {}, band, fast_bytes + {}, Give0{{a}}, "
      "Give1{{a}});\n{}}}\n}}\n",
      stack.band, pixels_text(plan, steps[0]), large[2], stack.weights[0], stack.strip, follows);
  text += fmt::format(
      "#else\nIMAGE_KERNEL program(const Arguments& a) {{\n"
      "for (int64 row = 0; row < a.rows; ++row) {{\n"
      "convolution_of<B, {}, true>(row, {}, (const float*)a.w[0], row, Give0{{a}});\n"
      "pool_of<{}, {}, {}>((const bf16*)(fast_bytes + {}), row, Give1{{a}});\n{}}}\n}}\n#endif\n",
      large[2], pixels_text(plan, steps[0]), large[0], large[1], large[2], stack.strip,
      on_the_host);
  return {.text = std::move(text),
          .threads = kStackThreads,
          .fast_bytes = stack.bytes,
          .resident = 2,  // one after the other, lest all wait for one that another kernel keeps
          .items_of = 1,
          .items = 1};
}

ImageKernel image_sums(const Step& step) {
  const int64_t weights = step.outputs[0].count(), biases = step.outputs[0].shape.back();
  std::string text = "using Real = float;\nconstexpr bool kShort = false;\n";
  text +=
      fmt::format("constexpr int kLanes = 8, kBlockThreads = {}, kResident = 4;\n", kImageThreads);
  for (const char* const part : {kPrelude, kTensorCores, kImages}) text += part;
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
