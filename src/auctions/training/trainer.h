#pragma once
#include <agora/auction_training.h>

#include "base/safetensors.h"

namespace agora::auctions {

// A trainer whose whole state can be saved; restoring it goes on with the same bits.
class ResumableTrainer : public Trainer {
 public:
  virtual std::vector<StoredTensor> state() const = 0;
  virtual void restore(const TensorFile& state) = 0;
  virtual double iteration_flops() const = 0;  // of the matrix products of one iteration
};
std::unique_ptr<ResumableTrainer> resumable_trainer(std::string_view mechanism,
                                                    const Setting& setting, const Recipe& recipe,
                                                    uint64_t seed);

}  // namespace agora::auctions
