#pragma once
#include <map>
#include <span>
#include <vector>

#include "compute/plan.h"

// Stacks of layers: a convolution, the pool of its result, and convolutions and elementwise steps
// on the small images that follow. A block takes an image through all of them in its fast memory,
// so that what only they read is nowhere else. Where the large images are needed later, for
// gradients, layers one by one are faster.
namespace agora::compute {

// What a block keeps where, in bytes.
struct ImageStack {
  int64_t rows = 0;                   // of the first convolution, computed at a time
  int64_t band = 0, strip = 0;        // of what it reads and gives
  std::vector<int64_t> weights{};     // of each step
  std::map<int32_t, int64_t> places;  // of small images, by their buffers
  int64_t first_place = 0, place_bytes = 0, place_count = 0;
  int64_t bytes = 0;
};

// Numbers the stacks of a plan that need no more fast memory than so many bytes.
void find_stacks(Plan& plan, int64_t bytes);
ImageStack image_stack(std::span<const Step> steps, int64_t bytes);
// By buffer: whether steps of one stack alone touch it.
std::vector<bool> inside_stacks(const Plan& plan);

}  // namespace agora::compute
