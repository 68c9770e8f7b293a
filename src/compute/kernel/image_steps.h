#pragma once
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/kernel/image_kernels.h"
#include "compute/kernel/machine.h"

namespace agora::compute::kernel {

// The steps of images of a plan, ready to be started one after the other.
class ImageSteps {
 public:
  // Memory for so many rows; kernels are compiled side by side.
  ImageSteps(Machine& machine, const Plan& plan, int64_t rows);

  // Where tensors are that are not images, and inputs with rows.
  struct Places {
    std::function<uint64_t(const View&)> shared;
    std::function<uint64_t(int32_t)> input;
  };
  void run(size_t phase, int64_t rows, const Places& places);

  void* images() const { return images_ ? images_->as<void>() : nullptr; }
  int64_t bytes() const { return bytes_; }

 private:
  struct Start {
    std::span<const Step> steps;                  // several are a stack
    Kernel *kernel = nullptr, *adding = nullptr;  // and what adds up the blocks' sums
    int64_t items = 1, items_of = 1, most_blocks = 1, adding_blocks = 0;
  };
  Start prepared(std::span<const Step> steps);
  Kernel* compiled(const ImageKernel& it);

  Machine& machine_;
  const Plan& plan_;
  int64_t capacity_, bytes_ = 0;
  std::vector<std::vector<Start>> starts_;  // per phase
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
  std::unique_ptr<DeviceMemory> images_, sums_;
  std::vector<uint64_t> arguments_;
};

}  // namespace agora::compute::kernel
