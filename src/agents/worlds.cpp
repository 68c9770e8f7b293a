#include "agents/worlds.h"

namespace agora::agents::worlds {

std::span<const char> stored_bytes(const TensorFile& saved, const std::string& name, DType dtype,
                                   const std::vector<int64_t>& shape) {
  const StoredTensor& tensor = saved.at(name, shape);
  if (tensor.dtype != dtype) {
    throw user_error("{}: {} is of type {}, expected {}", saved.path, name,
                     dtype_name(tensor.dtype), dtype_name(dtype));
  }
  return tensor.bytes;
}

UserError impossible(const TensorFile& saved, const std::string& name) {
  return user_error("{}: {} holds what no such environment can be in", saved.path, name);
}

}  // namespace agora::agents::worlds
