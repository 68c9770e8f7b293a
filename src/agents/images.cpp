#include "agents/images.h"

#include <filesystem>

#include "base/error.h"
#include "base/idx.h"

namespace agora::agents {
namespace {

constexpr const char* kFashionMnist = "/usr/share/datasets/fashion-mnist";

// As it is, or packed.
std::string found(const std::string& name) {
  const std::string plain = fmt::format("{}/{}", kFashionMnist, name);
  std::error_code ignored;
  return std::filesystem::exists(plain, ignored) ? plain : plain + ".gz";
}

}  // namespace

LabelledImages read_images(const std::string& images, const std::string& labels) {
  IdxArray pixels = read_idx(images), named = read_idx(labels);
  if (pixels.shape.size() < 3) {
    throw user_error("{}: {} dimensions, expected images: their number, height and width", images,
                     pixels.shape.size());
  }
  if (named.shape.size() != 1) {
    throw user_error("{}: {} dimensions, expected 1: a label for each image", labels,
                     named.shape.size());
  }
  if (named.shape[0] != pixels.shape[0]) {
    throw user_error("{} has {} images and {} has {} labels, expected as many", images,
                     pixels.shape[0], labels, named.shape[0]);
  }
  return {.height = pixels.shape[1],
          .width = pixels.shape[2],
          .channels = pixels.shape.size() == 4 ? pixels.shape[3] : 1,
          .pixels = std::move(pixels.values),
          .labels = std::move(named.values)};
}

ImageFiles fashion_mnist(bool test) {
  const std::string part = test ? "t10k" : "train";
  return {found(part + "-images-idx3-ubyte"), found(part + "-labels-idx1-ubyte")};
}

std::string fashion_mnist_missing() {
  for (const bool test : {false, true}) {
    const ImageFiles files = fashion_mnist(test);
    for (const std::string& file : {files.images, files.labels}) {
      std::error_code ignored;
      if (std::filesystem::exists(file, ignored)) continue;
      return fmt::format(
          "{} is missing; `apt-get install dataset-fashion-mnist` brings it, or give files of your "
          "own as images and labels",
          file);
    }
  }
  return "";
}

}  // namespace agora::agents
