#include "compute/kernel/image_steps.h"

#include <algorithm>

#include "compute/images.h"
#include "compute/kernel/image_kernels.h"

namespace agora::compute::kernel {

ImageSteps::ImageSteps(Machine& machine, const Plan& plan, int64_t rows)
    : machine_(machine), plan_(plan), capacity_(rows) {
  int64_t sums = 0;
  for (const Phase& phase : plan.phases) {
    starts_.emplace_back();
    for (size_t k = 0; k < phase.images.size();) {
      size_t count = 1;
      const int32_t stack = phase.images[k].stack;
      while (stack > 0 && k + count < phase.images.size() &&
             phase.images[k + count].stack == stack) {
        ++count;
      }
      starts_.back().push_back(prepared(std::span(phase.images).subspan(k, count)));
      k += count;
      const Start& it = starts_.back().back();
      if (it.adding == nullptr) continue;
      const View& weights = it.steps[0].outputs[0];
      sums = std::max(sums, it.most_blocks * (weights.count() + weights.shape.back()));
    }
  }
  if (plan.image_features == 0) return;
  bytes_ = plan.image_features * rows * 2 + sums * 4;
  images_ = machine.allocate(plan.image_features * rows * 2, "images");
  sums_ = machine.allocate(std::max<int64_t>(sums, 4) * 4, "partial sums");
}

Kernel* ImageSteps::compiled(const ImageKernel& own) {
  std::unique_ptr<Kernel>& it = kernels_[own.text];
  if (it == nullptr) it = machine_.compile(own.text, own.threads, own.fast_bytes, false);
  return it.get();
}

ImageSteps::Start ImageSteps::prepared(std::span<const Step> steps) {
  const ImageKernel own = steps.size() > 1 ? stack_kernel(plan_, steps, machine_.fast_bytes())
                                           : image_kernel(plan_, steps[0], capacity_);
  Start it{.steps = steps, .items = own.items, .items_of = own.items_of};
  it.kernel = compiled(own);
  it.most_blocks = machine_.blocks() * own.resident;
  if (own.sums > 0) {
    const ImageKernel adding = image_sums(steps[0]);
    it.adding = compiled(adding);
    it.adding_blocks = std::min(adding.items, machine_.blocks() * adding.resident);
  }
  return it;
}

void ImageSteps::run(size_t phase, int64_t rows, const Places& places) {
  const auto address = [&](const View& it) -> uint64_t {
    if (it.uniform || it.buffer < 0) return 0;
    const Buffer& buffer = plan_.buffers[static_cast<size_t>(it.buffer)];
    if (!it.rows) return places.shared(it);
    return reinterpret_cast<uint64_t>(images_->as<char>() + buffer.offset * capacity_ * 2);
  };
  for (const Start& it : starts_[phase]) {
    const Step& step = it.steps[0];
    const bool operation = step.kind == StepKind::kOperation;
    const int64_t groups = (rows + it.items_of - 1) / it.items_of;
    const int64_t blocks = std::clamp<int64_t>(groups * it.items, 1, it.most_blocks);
    const bool sums_rows = step.op == Op::kOuter;
    const uint64_t sums = it.adding != nullptr ? reinterpret_cast<uint64_t>(sums_->as<void>())
                          : sums_rows          ? address(step.outputs[0])
                                               : 0;
    const uint64_t x = !operation        ? 0
                       : step.index >= 0 ? places.input(step.index)
                                         : address(step.inputs[0]);
    const auto second = [&](const Step& own) {
      const bool has = own.kind == StepKind::kOperation && own.inputs.size() > 1;
      return has ? address(own.inputs[1]) : 0;
    };
    arguments_ = {static_cast<uint64_t>(rows), x};
    for (const Step& own : it.steps) arguments_.push_back(second(own));
    if (it.steps.size() == 1) arguments_.push_back(sums);
    for (const Step& own : it.steps) {
      for (const View& view : own.inputs) {
        const bool read_elsewhere = own.index >= 0 && &view == &own.inputs[0];
        arguments_.push_back(read_elsewhere ? x : address(view));
      }
    }
    if (it.steps.size() == 1) arguments_.push_back(0);
    for (const Step& own : it.steps) {
      for (const View& view : own.outputs) arguments_.push_back(address(view));
    }
    if (it.steps.size() == 1) arguments_.push_back(0);
    const auto start = [&] {
      it.kernel->start(blocks, arguments_);
      if (it.adding == nullptr) return;
      const uint64_t biases = step.outputs.size() > 1 ? address(step.outputs[1]) : 0;
      arguments_ = {static_cast<uint64_t>(blocks), sums, address(step.outputs[0]), biases};
      it.adding->start(it.adding_blocks, arguments_);
    };
    if (goes_aside(step)) {
      machine_.aside(start);
    } else {
      start();
    }
  }
  machine_.meet_again();
}

}  // namespace agora::compute::kernel
