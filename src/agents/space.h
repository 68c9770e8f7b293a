#pragma once
#include <cstdint>
#include <vector>

namespace agora::agents {

// What an agent sees in one environment: a picture (height, width, channels) or a list (n).
struct ObservationSpace {
  enum class Type : uint8_t { kByte, kReal };  // 0 to 255, or float

  Type type = Type::kByte;
  std::vector<int64_t> shape;

  int64_t size() const;  // numbers
  int64_t bytes() const { return type == Type::kByte ? size() : 4 * size(); }
  bool is_picture() const { return shape.size() == 3; }
  bool operator==(const ObservationSpace&) const = default;
};

struct Space {
  ObservationSpace observation;
  int actions = 0;
  // For normalised scores: what uniformly random actions earn, and the most one can earn; equal
  // where nobody knows.
  double least = 0, most = 0;
  double discount = 1;  // of a model that has its own; otherwise the learner's affair
};

}  // namespace agora::agents
