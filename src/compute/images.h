#pragma once
#include "compute/plan.h"

// Networks of images on a device that runs their steps one by one, each for all rows: 3x3
// convolutions and pools, large products of flat images, and what is done to their elements.
namespace agora::compute {

// A convolution, a pool or the gradient of one.
bool is_image_operation(Op op);
// Whether a tensor can be an operand of elementwise steps on images of `images`: images of that
// shape themselves, a number per channel, or one number.
bool is_of_images(const Shape& shape, const Shape& images);
// Whether all convolutions and pools of a graph have shapes that such steps take, and there are
// convolutions.
bool has_images(const Graph& graph);

// Whether other steps of images of its phase need not wait for it: they do not read what it makes.
bool goes_aside(const Step& step);

// Moves steps of images out of the row steps: phases are cut so that an image step stands at the
// end of a phase. What both sides touch is copied at the border.
void cut_images(Plan& plan);

// The part of a convolution's images that a block holds at a time.
struct ImageBand {
  int64_t images = 1;  // whole ones
  int64_t rows = 1;    // or, where images is 1, so many rows of one
  int64_t bytes = 0;
  bool narrow = false;  // few channels: three neighbours lie side by side
};
// Of images (height, width, channels), of which there are so many: fewer make smaller bands, so
// that many blocks have one. bytes is 0 where none fits.
ImageBand image_band(const Shape& images, int64_t count);

}  // namespace agora::compute
