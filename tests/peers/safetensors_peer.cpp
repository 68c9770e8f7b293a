// The C++ side of tests/scripts/safetensors_roundtrip.py.
//   safetensors_peer write FILE      writes known tensors
//   safetensors_peer copy IN OUT     reads a file and writes it again
//   safetensors_peer print FILE      prints "name dtype shape first last" per tensor
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <string_view>

#include "base/error.h"
#include "base/safetensors.h"

namespace {

using agora::StoredTensor;

template <typename T>
StoredTensor counting(std::string name, std::vector<int64_t> shape) {
  int64_t size = 1;
  for (const int64_t length : shape) size *= length;
  std::vector<T> values(static_cast<size_t>(size));
  std::iota(values.begin(), values.end(), T{1});
  return StoredTensor::of<T>(std::move(name), std::move(shape), values);
}

void write(const char* path) {
  const bool bools[] = {true, false, true};
  agora::write_safetensors(
      path,
      {.tensors = {counting<float>("layer.0/weight", {3, 2}), counting<double>("doubles", {5}),
                   counting<int32_t>("ints", {2, 2, 1}), counting<int64_t>("longs", {}),
                   counting<uint8_t>("bytes \"quoted\" ü", {7}),
                   StoredTensor::of<bool>("bools", {3}, bools), counting<float>("empty", {0, 4})},
       .metadata = {{"format", "pt"}, {"step", "12"}},
       .path = {}});
}

void print(const char* path) {
  for (const StoredTensor& tensor : agora::read_safetensors(path).tensors) {
    const std::vector<double> values = tensor.values<double>();
    fmt::print("{} {} {} {} {}\n", tensor.name, agora::dtype_name(tensor.dtype),
               fmt::join(tensor.shape, "x"), values.empty() ? 0 : values.front(),
               values.empty() ? 0 : values.back());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view job = argc > 2 ? argv[1] : "";
  try {
    if (job == "write") write(argv[2]);
    if (job == "print") print(argv[2]);
    if (job == "copy" && argc > 3)
      agora::write_safetensors(argv[3], agora::read_safetensors(argv[2]));
  } catch (const agora::UserError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
