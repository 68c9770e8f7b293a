// Affine maximisers of those bidders who could win: whose bids are too low for any price are left
// out, and the boosts are made for as many as are left.
#include "auctions/exact/sieve.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/trainer.h"

namespace agora::auctions::kind_sifted_ama {
namespace {

std::string refusal(const Setting& setting) {
  if (!setting.bidder_symmetric()) return "its bidders must be alike; learned-ama takes others";
  if (sieve_entries(setting.bidders(), setting.items()) <= BundleSizes::kMostEntries) return "";
  return "its tables for each number of bidders are too large; learned-ama has one, tariff none";
}

Parameters fresh(const MechanismKind& kind, const Setting& setting, int, int, uint64_t seed) {
  return sifted_trainer(kind, setting, recipe(kind.name, setting), seed)->mechanism()->parameters();
}

}  // namespace

MechanismKind entry_sifted_ama() {
  MechanismKind kind{
      .name = "sifted-ama",
      .summary = "learned affine maximisers of those bidders who could win",
      .pays = "what its presence costs those others who could win, in bids and boosts",
      .trial_setting = "2x2 uniform(0,1)",
      .refusal = refusal,
      .design = {},
      .make = [](Parameters p) { return std::make_unique<SiftedMaximiser>(std::move(p)); }};
  NetworkKind network{.record = {}};
  network.fresh = fresh;
  network.training = std::make_shared<TrainingKind>(
      TrainingKind{.trainer = sifted_trainer,
                   .published = nullptr,
                   .best = [](const Setting& setting) { return recipe("learned-ama", setting); },
                   .parameters = boost_parameters()});
  kind.network = std::make_shared<NetworkKind>(std::move(network));
  kind.refines = true;
  return kind;
}

}  // namespace agora::auctions::kind_sifted_ama
