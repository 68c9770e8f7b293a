// One bidder with one or two items: every value of a grid against every bid of it.
#include <algorithm>
#include <cmath>

#include "auctions/audit/audit.h"
#include "auctions/audit/search.h"
#include "auctions/mechanism.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int kOneItem = 2001, kTwoItems = 101;  // points per item

struct ReportGrid {
  int m, points;
  std::vector<double> bids;        // (points^m, m), the last item fastest
  std::vector<double> allocation;  // (points^m, m)
  std::vector<double> payments;    // (points^m)
  int64_t size() const { return static_cast<int64_t>(payments.size()); }
  int64_t up(int item) const { return m == 2 && item == 0 ? points : 1; }  // to the next bid
  bool last(int64_t k, int item) const { return k / up(item) % points == points - 1; }
};

// No allocation probability and no payment falls when a bid rises from one grid point to the next.
bool monotone(const ReportGrid& grid) {
  for (int64_t k = 0; k < grid.size(); ++k) {
    for (int j = 0; j < grid.m; ++j) {
      if (grid.last(k, j)) continue;
      const int64_t next = k + grid.up(j);
      if (grid.payments[next] < grid.payments[k] - 1e-12) return false;
      for (int item = 0; item < grid.m; ++item) {
        if (grid.allocation[next * grid.m + item] < grid.allocation[k * grid.m + item] - 1e-12) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace

GridBound grid_bound(const Mechanism& mechanism, const Setting& setting) {
  const int m = setting.items();
  CHECK(setting.bidders() == 1 && m <= 2, "{}x{}", setting.bidders(), m);
  const BidSpace space(setting, 0);
  ReportGrid grid{m, m == 1 ? kOneItem : kTwoItems, {}, {}, {}};
  GridBound result{
      .points = grid.points, .spacing = 0, .largest_gain = 0, .upper = {}, .argument = ""};
  const int64_t size = m == 1 ? grid.points : int64_t{grid.points} * grid.points;
  for (int64_t k = 0; k < size; ++k) {
    for (int j = 0; j < m; ++j) {
      const int64_t place = k / grid.up(j) % grid.points;
      grid.bids.push_back(space.low(j) + space.width(j) * place / (grid.points - 1));
    }
  }
  for (int j = 0; j < m; ++j) {
    result.spacing = std::max(result.spacing, space.width(j) / (grid.points - 1));
  }
  grid.allocation.resize(size * m);
  grid.payments.resize(size);
  default_pool().run(grid.points, [&](int64_t part) {
    const Range range = part_range(size, part, grid.points);
    run_checked(mechanism, range.end - range.begin, 1, m, grid.bids.data() + range.begin * m,
                grid.allocation.data() + range.begin * m, grid.payments.data() + range.begin);
  });
  const bool rising = monotone(grid);
  // The best that any bid between a grid point and the next ones up can give, when outcomes rise
  // with bids: the allocation of the upper corner at the payment of the lower one.
  std::vector<int64_t> corner(size);
  for (int64_t k = 0; k < size; ++k) {
    corner[k] = k;
    for (int j = 0; j < m; ++j) corner[k] += grid.last(k, j) ? 0 : grid.up(j);
  }
  std::vector<double> gains(grid.points, 0.0), uppers(grid.points, 0.0);
  default_pool().run(grid.points, [&](int64_t part) {
    const Range range = part_range(size, part, grid.points);
    for (int64_t v = range.begin; v < range.end; ++v) {
      const double* value = grid.bids.data() + v * m;
      const auto worth = [&](int64_t bid) {
        double sum = 0.0;
        for (int j = 0; j < m; ++j) sum += value[j] * grid.allocation[bid * m + j];
        return sum;
      };
      const double honest = worth(v) - grid.payments[v];
      double best = honest, bound = honest;
      for (int64_t b = 0; b < size; ++b) {
        best = std::max(best, worth(b) - grid.payments[b]);
        if (rising) bound = std::max(bound, worth(corner[b]) - grid.payments[b]);
      }
      gains[part] = std::max(gains[part], best - honest);
      uppers[part] = std::max(uppers[part], bound - honest);
    }
  });
  result.largest_gain = *std::max_element(gains.begin(), gains.end());
  if (rising) {
    // Where outcomes jump within a cell, the corners say no more than that payments are bounded.
    const double upper = *std::max_element(uppers.begin(), uppers.end());
    const double dearest = *std::max_element(grid.payments.begin(), grid.payments.end());
    if (upper < 0.5 * dearest) {
      result.upper = upper;
      result.argument = "outcomes rise with bids (checked on the grid, assumed between its points)";
    }
  }
  return result;
}

}  // namespace agora::auctions
