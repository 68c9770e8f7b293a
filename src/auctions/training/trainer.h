#pragma once
#include <agora/auction_training.h>

#include "auctions/mechanism.h"
#include "base/safetensors.h"

namespace agora::auctions {

// A trainer whose whole state can be saved; restoring it goes on with the same bits.
class ResumableTrainer : public Trainer {
 public:
  virtual std::vector<StoredTensor> state() const = 0;
  virtual void restore(const TensorFile& state) = 0;
  virtual double iteration_flops() const = 0;  // of the matrix products of one iteration
};

// Makes a trainer of a kind, which has to outlive it.
using MakeTrainer = std::unique_ptr<ResumableTrainer>(const MechanismKind& kind,
                                                      const Setting& setting, const Recipe& recipe,
                                                      uint64_t seed);
MakeTrainer lagrangian_trainer;  // of any network
MakeTrainer game_trainer;        // of an Auctioneer (auctions/algnet.h)
MakeTrainer boost_trainer;       // of a SizeMaximiser (auctions/exact/bundle_sizes.h)
MakeTrainer sifted_trainer;      // of a SiftedMaximiser (auctions/exact/sieve.h)
MakeTrainer tariff_trainer;      // of a TariffNet (auctions/tariff.h)
MakeTrainer ama_tariff_trainer;  // of one on a learned affine maximiser

// A number of a recipe that a training can be told; it has no preset but that of the recipe.
using RecipeParameter = OptionParameter<Recipe>;
std::vector<RecipeParameter> learning_parameters();  // of any
std::vector<RecipeParameter> training_parameters();  // of any that searches for lies
std::vector<RecipeParameter> lagrangian_parameters();
std::vector<RecipeParameter> game_parameters();
std::vector<RecipeParameter> boost_parameters();
std::vector<RecipeParameter> tariff_parameters();
std::vector<RecipeParameter> temperature_parameters();  // of any that smooths choices
template <typename Member>
RecipeParameter recipe_parameter(std::string name, Member Recipe::*member, double low,
                                 std::string summary, double high = kMost<Member>) {
  RecipeParameter result = parameter(std::move(name), member, low, high, std::move(summary));
  result.preset.reset();
  return result;
}

// How a kind of network learns; the file of the kind fills it in.
struct TrainingKind {
  MakeTrainer* trainer;
  Recipe (*published)(const Setting& setting);  // null: nobody did
  Recipe (*best)(const Setting& setting);       // what we found to earn most within minutes
  std::vector<RecipeParameter> parameters = training_parameters();
};
// A kind that is computed, not trained, is the user's mistake.
const TrainingKind& training_of(const MechanismKind& kind);

std::unique_ptr<ResumableTrainer> resumable_trainer(const MechanismKind& kind,
                                                    const Setting& setting, const Recipe& recipe,
                                                    uint64_t seed);
std::unique_ptr<ResumableTrainer> resumable_trainer(std::string_view mechanism,
                                                    const Setting& setting, const Recipe& recipe,
                                                    uint64_t seed);

}  // namespace agora::auctions
