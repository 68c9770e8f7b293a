#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/safetensors.h"

namespace agora {

struct Checkpoint {
  int64_t step = 0;
  TensorFile tensors;
  Json extra;  // what the caller gave to save()
};

// Where somebody's state is kept: a run folder, or a part of one.
class Checkpoints {
 public:
  virtual ~Checkpoints() = default;
  virtual std::optional<Checkpoint> latest() const = 0;  // null before the first save()
  virtual void save(int64_t step, std::vector<StoredTensor> tensors, const Json& extra) = 0;
  // Whether a loop should save now: the last time was ten seconds ago, or a stop is asked for.
  virtual bool save_is_due() const = 0;
};

}  // namespace agora
