#include "compute/kernel/image_steps.h"

#include <algorithm>

#include "compute/kernel/image_kernels.h"

namespace agora::compute::kernel {

ImageSteps::ImageSteps(Machine& machine, const Plan& plan, int64_t rows)
    : machine_(machine), plan_(plan), capacity_(rows) {
  int64_t sums = 0;
  for (const Phase& phase : plan.phases) {
    starts_.emplace_back();
    for (const Step& step : phase.images) {
      starts_.back().push_back(prepared(step));
      const Start& it = starts_.back().back();
      if (it.adding == nullptr) continue;
      const View& weights = step.outputs[0];
      sums = std::max(sums, it.most_blocks * (weights.count() + weights.shape.back()));
    }
  }
  if (plan.image_features == 0) return;
  bytes_ = plan.image_features * rows * 2 + sums * 4;
  images_ = machine.allocate(plan.image_features * rows * 2, "images");
  sums_ = machine.allocate(std::max<int64_t>(sums, 4) * 4, "partial sums");
}

Kernel* ImageSteps::compiled(const std::string& text, int64_t fast_bytes) {
  std::unique_ptr<Kernel>& it = kernels_[text];
  if (it == nullptr) it = machine_.compile(text, kImageThreads, fast_bytes, false);
  return it.get();
}

ImageSteps::Start ImageSteps::prepared(const Step& step) {
  const ImageKernel own = image_kernel(plan_, step, capacity_);
  Start it{.step = &step, .items = own.items, .items_of = own.items_of};
  it.kernel = compiled(own.text, own.fast_bytes);
  it.most_blocks = machine_.blocks() * own.resident;
  if (own.sums > 0) {
    const ImageKernel adding = image_sums(step);
    it.adding = compiled(adding.text, 0);
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
    const Step& step = *it.step;
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
    const uint64_t w = operation && step.inputs.size() > 1 ? address(step.inputs[1]) : 0;
    arguments_ = {static_cast<uint64_t>(rows), x, w, sums};
    for (const View& view : step.inputs) {
      const bool read_elsewhere = step.index >= 0 && &view == &step.inputs[0];
      arguments_.push_back(read_elsewhere ? x : address(view));
    }
    arguments_.push_back(0);
    for (const View& view : step.outputs) arguments_.push_back(address(view));
    arguments_.push_back(0);
    it.kernel->start(blocks, arguments_);
    if (it.adding == nullptr) continue;
    const uint64_t biases = step.outputs.size() > 1 ? address(step.outputs[1]) : 0;
    arguments_ = {static_cast<uint64_t>(blocks), sums, address(step.outputs[0]), biases};
    it.adding->start(it.adding_blocks, arguments_);
  }
}

}  // namespace agora::compute::kernel
