#include "base/safetensors.h"

#include "base/error.h"
#include "fuzz/target.h"

namespace agora::fuzz {

const bool known = add("safetensors", [](std::string_view input) {
  const TensorFile file = read_safetensors(as_file("input.safetensors", input));
  for (const StoredTensor& tensor : file.tensors) {
    const auto size = static_cast<size_t>(tensor.size());
    CHECK(tensor.bytes.size() == size * dtype_size(tensor.dtype), "{} bytes", tensor.bytes.size());
    CHECK(tensor.values<double>().size() == size, "{} numbers", size);
  }
});

}  // namespace agora::fuzz
