// Virtual valuations combinatorial auctions: affine maximisers whose boost of an allocation is a
// sum of boosts of what each bidder gets.
#include "auctions/exact/affine_maximiser.h"
#include "auctions/exact/evolution.h"

namespace agora::auctions::kind_vvca {

MechanismKind entry_vvca() {
  return {
      .name = "vvca",
      .summary = "affine maximiser with optimised weights and boosts of bidders' bundles",
      .pays = "what its presence costs the others, in weighted values and boosts",
      .trial_setting = "2x2 uniform(0,1) / uniform(0,2)",
      .parameters = {design_profiles()},
      .refusal = affine_refusal,
      .design =
          [](const Setting& setting, const Design& how) {
            return optimise_affine("vvca", setting, {bundle_boosts(setting)}, how);
          },
      .make = [](Parameters p) { return std::make_unique<AffineMaximiser>(std::move(p)); },
      .effort =
          [](const Setting& setting) { return affine_effort(setting, {bundle_boosts(setting)}); }};
}

}  // namespace agora::auctions::kind_vvca
