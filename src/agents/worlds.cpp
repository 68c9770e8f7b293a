#include "agents/worlds.h"

#include <cmath>
#include <numeric>

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

void save_chances(const Levels& levels, const std::string& prefix,
                  std::vector<StoredTensor>& saved) {
  if (levels.preferred().empty()) return;
  saved.push_back(tensor(prefix + "chances", {levels.size()}, levels.preferred()));
}

std::vector<double> stored_chances(const TensorFile& saved, const std::string& prefix,
                                   const Levels& levels) {
  if (saved.find(prefix + "chances") == nullptr) return {};
  auto chances = stored<double>(saved, prefix + "chances", {levels.size()});
  const double sum = std::accumulate(chances.begin(), chances.end(), 0.0);
  if (!std::isfinite(sum) || sum <= 0 ||
      std::any_of(chances.begin(), chances.end(), [](double chance) { return chance < 0; })) {
    throw impossible(saved, prefix + "chances");
  }
  return chances;
}

}  // namespace agora::agents::worlds
