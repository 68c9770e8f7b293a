// Affine maximiser auctions with optimised weights and one boost per class of allocations.
#include "auctions/exact/affine_maximiser.h"
#include "auctions/exact/evolution.h"

namespace agora::auctions::kind_ama {

MechanismKind entry_ama() {
  return {.name = "ama",
          .summary = "affine maximiser with optimised weights and boosts of allocations",
          .pays = "what its presence costs the others, in weighted values and boosts",
          .trial_setting = "2x2 uniform(0,1)",
          .parameters = {design_profiles()},
          .refusal = affine_refusal,
          .design =
              [](const Setting& setting, const Design& how) {
                return optimise_affine("ama", setting,
                                       {bundle_boosts(setting), allocation_boosts(setting)}, how);
              },
          .make = [](Parameters p) { return std::make_unique<AffineMaximiser>(std::move(p)); },
          .effort =
              [](const Setting& setting) {
                return affine_effort(setting, {bundle_boosts(setting), allocation_boosts(setting)});
              }};
}

}  // namespace agora::auctions::kind_ama
