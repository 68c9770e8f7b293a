#pragma once
#include <agora/auction_audit.h>

namespace agora::auctions {

// The parts of an audit. Each test of regret alone, or those that the options ask for: then the
// strong one goes on from what the thesis's found, so that no profile's gain is smaller.
RegretTest thesis_regret(const Mechanism& mechanism, const Setting& setting,
                         const AuditOptions& options);
RegretTest strong_regret(const Mechanism& mechanism, const Setting& setting,
                         const AuditOptions& options);
struct RegretTests {
  std::optional<RegretTest> thesis, strong;
};
RegretTests regret_tests(const Mechanism& mechanism, const Setting& setting,
                         const AuditOptions& options);
SymmetryTest symmetry_test(const Mechanism& mechanism, const Setting& setting,
                           const AuditOptions& options);
// How much an audit affords in a setting where nobody says: fewer profiles of larger ones.
AuditOptions affordable(AuditOptions most, const Setting& setting);
GridBound grid_bound(const Mechanism& mechanism, const Setting& setting);

}  // namespace agora::auctions
