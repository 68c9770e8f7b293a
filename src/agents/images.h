#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace agora::agents {

// Images of one size, each with a label.
struct LabelledImages {
  int64_t height = 0, width = 0, channels = 1;
  std::vector<uint8_t> pixels;  // (count, height, width, channels)
  std::vector<uint8_t> labels;  // (count)

  int64_t count() const { return static_cast<int64_t>(labels.size()); }
  int64_t bytes() const { return height * width * channels; }  // of one
  const uint8_t* image(int64_t index) const { return pixels.data() + index * bytes(); }
};

// Two IDX files that belong together; anything else is a UserError.
LabelledImages read_images(const std::string& images, const std::string& labels);

// FashionMNIST as Debian's package has it.
struct ImageFiles {
  std::string images, labels;
};
ImageFiles fashion_mnist(bool test);
// The command that installs it; "" if it is there.
std::string fashion_mnist_missing();

}  // namespace agora::agents
