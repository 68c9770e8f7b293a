// Generated kernels go through the compiler of GPUs, which needs no GPU.
#include "base/features.h"
#if AGORA_HAS_CUDA
#include <gtest/gtest.h>

#include <future>

#include "compute/cuda/compiler.h"
#include "compute/gradients.h"
#include "compute/kernel/image_kernels.h"
#include "compute/kernel/machine.h"
#include "compute/kernel/source.h"
#include "compute/operation.h"
#include "compute/operations.h"
#include "support/emulated_gpu.h"
#include "support/scratch.h"

namespace agora::compute {
namespace {

TEST(CudaCompiler, TakesEveryOperationAndItsGradient) {
  Graph g;
  Tensor loss = g.constant(0);
  Tensors wrt;
  for (const Operation& it : operations()) {
    if (it.examples.empty()) continue;
    const Example& example = it.examples[0];
    Tensors inputs;
    for (const Example::Input& input : example.inputs) {
      const std::string name = std::to_string(g.size());
      if (input.classes > 0) {
        inputs.push_back(g.index_input(name, input.shape));
      } else {
        inputs.push_back(is_row_local(input.shape) ? g.input(name, input.shape)
                                                   : g.parameter(name, input.shape));
        if (it.gradient != nullptr) wrt.push_back(inputs.back());
      }
    }
    loss = loss + sum(square(record(it.op, inputs, example.ints, example.told)));
  }
  PlanRequest request{.limits = kernel::plan_limits(EmulatedGpu::instance())};
  request.outputs.emplace_back("loss", loss.id);
  for (const Tensor& slope : gradients(loss, wrt)) {
    request.outputs.emplace_back(std::to_string(slope.id), slope.id);
  }
  const Plan plan = make_plan(g, request);
  const std::string single =
      kernel::make_source(plan, {.fast_features = plan.scratch_features}).text;
  const std::string wide =
      kernel::make_source(plan, {.type = Type::kFloat64, .lanes = 16, .check = true}).text;
  std::vector<std::future<std::string>> codes;
  codes.push_back(std::async(std::launch::async, cuda::compile_now, single, "sm_80"));
  codes.push_back(std::async(std::launch::async, cuda::compile_now, wide, "sm_90"));
  for (std::future<std::string>& code : codes) EXPECT_EQ(code.get().substr(1, 3), "ELF");
}

// A search: all of it inlined, with weights of 16 bits.
TEST(CudaCompiler, TakesShortProducts) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 3, 5}), w = g.parameter("w", {5, 20});
  const Tensor loss = mean(square(matmul(tanh(matmul(x, w)), g.parameter("v", {20, 1}))));
  PlanRequest request{.limits = kernel::plan_limits(EmulatedGpu::instance())};
  request.outputs.emplace_back("slope", gradients(loss, {w})[0].id);
  const Plan plan = make_plan(g, request);
  for (const int64_t lanes : {4, 8}) {
    const std::string text =
        kernel::make_source(
            plan, {.lanes = lanes, .fast_features = plan.scratch_features, .short_products = true})
            .text;
    EXPECT_NE(text.find("#define AGORA_INLINED"), std::string::npos);
    EXPECT_EQ(cuda::compile_now(text, "sm_80").substr(1, 3), "ELF");
  }
}

// Rounds of a loop meet so many weights that they come from afar: those of a product are on their
// way before the barrier that it waits for.
TEST(CudaCompiler, TakesWeightsThatAreFetchedAhead) {
  Graph g;
  Tensors weights;
  for (const int k : {0, 1, 2}) {
    weights.push_back(g.parameter("in" + std::to_string(k), {128, 256}));
    weights.push_back(g.parameter("out" + std::to_string(k), {256, 128}));
  }
  const Tensors end = repeat(3, {g.input("x", {kRows, 128})}, [&](const Tensors& state, Tensor) {
    Tensor x = state[0];
    for (const Tensor& w : weights) x = tanh(matmul(x, w));
    return Tensors{x};
  });
  PlanRequest request{.limits = kernel::plan_limits(EmulatedGpu::instance())};
  request.outputs.emplace_back("end", end[0].id);
  const Plan plan = make_plan(g, request);
  const std::string text =
      kernel::make_source(plan, {.fast_features = plan.scratch_features, .short_products = true})
          .text;
  EXPECT_NE(text.find("held.fetch<"), std::string::npos);
  EXPECT_EQ(cuda::compile_now(text, "sm_90").substr(1, 3), "ELF");
}

TEST(CudaCompiler, TakesStepsOfImages) {
  Graph g;
  const Tensor pictures = g.byte_input("pictures", {kRows, 64, 64, 3}, 1.0);
  Tensor x = max_pool(conv3x3(pictures, g.parameter("first", {3, 3, 3, 16})));
  x = relu(conv3x3(x, g.parameter("second", {3, 3, 16, 32}))) * 0.5;
  x = matmul(flatten(max_pool(x)), g.parameter("dense", {16 * 16 * 32, 64}));
  const Tensor loss = sum(square(x));
  PlanRequest request{.limits = kernel::plan_limits(EmulatedGpu::instance())};
  for (const Tensor& slope : gradients(loss, g.parameters())) {
    request.outputs.emplace_back(std::to_string(slope.id), slope.id);
  }
  const Plan plan = make_plan(g, request);
  std::vector<std::future<std::string>> codes;
  const auto compile = [&](const std::string& text) {
    const char* const architecture = codes.size() % 2 == 0 ? "sm_90" : "sm_80";
    codes.push_back(std::async(std::launch::async, cuda::compile_now, text, architecture));
  };
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.images) {
      compile(kernel::image_kernel(plan, step, 2048).text);
      if (step.op == Op::kConvWeight) compile(kernel::image_sums(step).text);
    }
  }
  compile(kernel::make_source(plan, {.fast_features = plan.scratch_features}).text);
  EXPECT_GT(codes.size(), 10u);
  for (std::future<std::string>& code : codes) EXPECT_EQ(code.get().substr(1, 3), "ELF");
}

TEST(CudaCompiler, TakesStacksOfImages) {
  Graph g;
  Tensor x = g.byte_input("pictures", {kRows, 64, 64, 3}, 1.0);
  const auto layer = [&](Tensor from, int64_t out) {
    const std::string name = std::to_string(g.size());
    return conv3x3(from, g.parameter(name, {3, 3, from.size(-1), out}));
  };
  for (const int64_t channels : {16, 32, 32}) {
    x = max_pool(layer(x, channels));
    x = x + layer(relu(layer(relu(x), channels)), channels);
  }
  PlanRequest request{.limits = kernel::plan_limits(EmulatedGpu::instance())};
  request.outputs.emplace_back("images", x.id);
  const Plan plan = make_plan(g, request);
  std::vector<std::future<std::string>> codes;
  int32_t latest = 0;
  for (const Phase& phase : plan.phases) {
    for (size_t k = 0; k < phase.images.size(); ++k) {
      const int32_t stack = phase.images[k].stack;
      EXPECT_GT(stack, 0);
      if (stack == std::exchange(latest, stack)) continue;
      size_t count = 1;
      while (k + count < phase.images.size() && phase.images[k + count].stack == stack) ++count;
      codes.push_back(std::async(
          std::launch::async, cuda::compile_now,
          kernel::stack_kernel(plan, std::span(phase.images).subspan(k, count), 200 << 10).text,
          codes.empty() ? "sm_80" : "sm_90"));
    }
  }
  EXPECT_EQ(codes.size(), 3u);
  for (std::future<std::string>& code : codes) EXPECT_EQ(code.get().substr(1, 3), "ELF");
}

TEST(CudaCompiler, SaysWhatItDoesNotTake) {
  expect_user_error([] { cuda::compile_now("__device__ int broken(", "sm_90"); },
                    {"device cuda", "error", "expected"});
}

TEST(CudaCompiler, KeepsCode) {
  const Scratch home;
  setenv("XDG_CACHE_HOME", home.path().c_str(), 1);
  const std::string text = "extern \"C\" __global__ void program() {}";
  const std::string code = cuda::compile(text, "sm_90");
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::recursive_directory_iterator(home.path())) {
    if (file.is_regular_file()) files.push_back(file.path());
  }
  ASSERT_EQ(files.size(), 1u);
  std::ofstream(files[0], std::ios::binary) << "kept";
  EXPECT_EQ(cuda::compile(text, "sm_90"), "kept");
  EXPECT_NE(cuda::compile(text, "sm_80"), "kept");
  setenv("XDG_CACHE_HOME", "/proc/none", 1);  // where nobody can write
  EXPECT_EQ(cuda::compile(text, "sm_90"), code);
  unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace agora::compute
#endif
