#pragma once
#include <span>
#include <string>

#include "compute/plan.h"

// Steps of images (compute/images.h) as kernels of their own. Steps that do the same to tensors of
// the same shapes have the same text: what they work on is in the arguments.
namespace agora::compute::kernel {

constexpr int64_t kImageThreads = 256, kStackThreads = 512;

struct ImageKernel {
  std::string text;
  int64_t threads = kImageThreads;
  int64_t fast_bytes = 0;
  int64_t resident = 2;  // blocks of a multiprocessor
  int64_t items_of = 1;  // rows that make `items` items of work, which blocks share
  int64_t items = 1;
  int64_t sums = 0;  // elements of a block's own sums
};
// For up to so many rows. The kernel `program` takes: rows, x, w, sums, then the operands and the
// results of the step.
ImageKernel image_kernel(const Plan& plan, const Step& step, int64_t rows);
// Of a stack (compute/image_stacks.h) for a block with so much fast memory. It takes: rows, x, the
// second inputs of all steps, all their inputs, all their outputs.
ImageKernel stack_kernel(const Plan& plan, std::span<const Step> steps, int64_t fast_bytes);
// Adds up the blocks' sums of a step: parts in place of rows, the sums in place of x.
ImageKernel image_sums(const Step& step);

}  // namespace agora::compute::kernel
