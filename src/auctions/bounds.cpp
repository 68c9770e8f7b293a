#include "auctions/bounds.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "auctions/comparison.h"
#include "auctions/exact/revenue_bound.h"
#include "auctions/setting.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

constexpr int64_t kBoundProfiles = 256;  // of cells

Setting alone(const Setting& setting, int bidder) {
  Limits limits = setting.limits();
  if (!limits.budgets.empty()) limits.budgets = {limits.budgets[bidder]};
  const Row& row = laws_of(setting).rows[bidder];
  return limited(make_setting(row->text(), setting.items(), {row}), limits);
}

// A mechanism of several bidders is, to each of them, one of its own with the others drawn: it pays
// no more on average than the best mechanism for it alone would have it pay.
std::optional<double> bound_of_each_alone(const Setting& setting) {
  double sum = 0.0, last = 0.0;
  for (int i = 0; i < setting.bidders(); ++i) {
    if (i == 0 || !setting.bidder_symmetric()) {
      const auto own = revenue_bound(alone(setting, i), kBoundProfiles);
      if (!own) return std::nullopt;
      last = own->revenue;
    }
    sum += last;
  }
  return sum;
}

}  // namespace

std::vector<Bound> revenue_bounds(const Setting& setting, const Comparison& comparison,
                                  bool programs) {
  std::vector<Bound> bounds{
      {"welfare", "what items are worth to those who value them most", comparison.welfare_bound()}};
  if (std::isfinite(comparison.dual_bound())) {
    bounds.push_back({"dual", "the dual bound for independent values", comparison.dual_bound()});
  }
  if (!programs) return bounds;
  try {
    if (const auto found = revenue_bound(setting, kBoundProfiles)) {
      bounds.push_back({"program",
                        fmt::format("a linear program of {} cells per item", found->points),
                        found->revenue});
    }
    if (setting.bidders() == 1) return bounds;
    if (const auto found = bound_of_each_alone(setting)) {
      bounds.push_back({"alone", "what each bidder alone could be made to pay", *found});
    }
  } catch (const UserError&) {  // without Clp there is no program
  }
  return bounds;
}

}  // namespace agora::auctions
