#include <algorithm>

#include "compute/images.h"

// Which images there are steps for, and how blocks share them.
namespace agora::compute {
namespace {

constexpr int64_t kBandBytes = 44 << 10;  // several blocks of a multiprocessor hold one each
constexpr int64_t kBandPixels = 512;      // in whole images
constexpr int64_t kManyBands = 128;       // about one for each multiprocessor
constexpr int64_t kLeastRows = 4;         // of a band, lest most of it be border

bool is_wide(int64_t channels) { return channels == 16 || channels == 32 || channels == 64; }
bool is_narrow(int64_t channels) { return 3 * channels <= 16; }

// A convolution from images of so many channels to others.
bool takes(const Shape& from, int64_t to) {
  return (is_wide(from[2]) || is_narrow(from[2])) && is_wide(to) && image_band(from, 1).bytes > 0;
}

bool takes(const Graph& graph, const Node& node) {
  const Shape from = feature_shape(graph.node(node.inputs[0]).shape);
  const Shape to = feature_shape(node.shape);
  switch (node.op) {
    case Op::kConv:
      return takes(from, to[2]);
    case Op::kConvInput:
      return is_wide(from[2]) && takes(from, to[2]);
    case Op::kConvWeight: {
      const int64_t deep = std::max<int64_t>(from[2], 16);
      const int64_t out = node.shape.back();
      return takes(from, out) && deep * out <= 8 * 256;  // what the sums of eight warps hold
    }
    default:
      return from[2] % 8 == 0;
  }
}

}  // namespace

bool is_image_operation(Op op) {
  return op == Op::kConv || op == Op::kConvInput || op == Op::kConvWeight || op == Op::kPool ||
         op == Op::kPoolGradient;
}

bool goes_aside(const Step& step) {
  return step.kind == StepKind::kOperation && (step.op == Op::kConvWeight || step.op == Op::kOuter);
}

bool is_of_images(const Shape& shape, const Shape& images) {
  if (is_row_local(shape)) return shape == images;
  const int64_t count = feature_count(shape);
  return count == 1 || (shape.back() == images.back() && count == shape.back());
}

bool has_images(const Graph& graph) {
  bool any = false;
  for (int32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (!is_image_operation(node.op)) continue;
    if (!takes(graph, node)) return false;
    any = any || node.op == Op::kConv;
  }
  return any && graph.loops().empty();
}

ImageBand image_band(const Shape& images, int64_t count) {
  const int64_t height = images[0], width = images[1];
  ImageBand band{.rows = height, .narrow = is_narrow(images[2])};
  const int64_t wide = band.narrow ? width : width + 2, deep = band.narrow ? 16 : images[2];
  const auto bytes = [&] { return band.images * (band.rows + 2) * wide * deep * 2; };
  const auto bands = [&] {
    return (count + band.images - 1) / band.images * ((height + band.rows - 1) / band.rows);
  };
  while (band.images * height * width < kBandPixels) band.images *= 2;
  while (band.images > 1 && (bytes() > kBandBytes || bands() < kManyBands)) band.images /= 2;
  while (band.rows > 1 &&
         (bytes() > kBandBytes || (bands() < kManyBands && band.rows > kLeastRows))) {
    band.rows = (band.rows + 1) / 2;
  }
  band.bytes = bytes() <= kBandBytes ? bytes() : 0;
  return band;
}

}  // namespace agora::compute
