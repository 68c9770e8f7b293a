#pragma once
#include <string>
#include <vector>

#include "auctions/training/boost_slopes.h"
#include "auctions/training/common.h"

// How affine maximisers are learned that have a boost for every numbers of items that bidders get:
// by revenue alone. Revenue has a slope in all boosts at once; Adam steps by it.
namespace agora::auctions {

// A maximiser of several that are learned side by side.
struct BoostLevel {
  BoostShape shape;
  std::string suffix;  // of the names of what is learned
};

class BoostTrainer : public CommonTrainer {
 public:
  BoostTrainer(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
               uint64_t seed, std::vector<BoostLevel> levels);

  void advance(int64_t iterations) override;
  std::unique_ptr<Mechanism> mechanism() const override;
  double iteration_flops() const override { return 0; }

 protected:
  const std::vector<BoostLevel>& levels() const { return levels_; }

 private:
  // Of every level, added up over the batch.
  virtual std::vector<BoostSlopes> slopes(const std::vector<HardBoosts>& hard,
                                          std::span<const float> values) const = 0;
  // A level's tensors become those of the mechanism.
  virtual void put(const BoostLevel& level, const Parameters& own, Parameters& all) const = 0;

  void iterate();

  std::vector<BoostLevel> levels_;
  std::vector<LearnedBoosts> first_;  // of each
  std::optional<compute::Program> descend_;
};

}  // namespace agora::auctions
