#include "auctions/exact/type_space.h"

#include <algorithm>

#include "base/error.h"

namespace agora::auctions {

double type_profiles(const Setting& setting, int points) {
  double count = 1.0;
  for (const std::vector<Law>& row : marginal_laws(setting)) {
    for (const Law& law : row) {
      count *= law->atoms().empty() ? points : static_cast<double>(law->atoms().size());
    }
  }
  return count;
}

TypeSpace type_space(const Setting& setting, int points) {
  TypeSpace space;
  space.bidders = setting.bidders();
  space.items = setting.items();
  for (const std::vector<Law>& row : marginal_laws(setting)) {
    std::vector<std::vector<double>> grid;
    std::vector<double> probability{1.0};
    for (const Law& law : row) {
      std::vector<Atom> cells = law->atoms();
      for (int k = 0; cells.size() < static_cast<size_t>(points) && law->atoms().empty(); ++k) {
        cells.push_back({law->quantile(k / static_cast<double>(points)), 1.0 / points});
      }
      std::vector<double> values, next;
      for (const Atom& cell : cells) values.push_back(cell.value);
      for (double before : probability) {
        for (const Atom& cell : cells) next.push_back(before * cell.probability);
      }
      grid.push_back(std::move(values));
      probability = std::move(next);
    }
    space.grids.push_back(std::move(grid));
    space.probability.push_back(std::move(probability));
  }
  return space;
}

int64_t TypeSpace::profiles() const {
  int64_t count = 1;
  for (int i = 0; i < bidders; ++i) count *= types(i);
  return count;
}

double TypeSpace::value(int bidder, int type, int item) const {
  for (int j = items - 1; j > item; --j) type /= static_cast<int>(grids[bidder][j].size());
  return grids[bidder][item][type % grids[bidder][item].size()];
}

int TypeSpace::type_of(int bidder, const double* bids) const {
  int type = 0;
  for (int j = 0; j < items; ++j) {
    const std::vector<double>& grid = grids[bidder][j];
    const auto after = std::upper_bound(grid.begin(), grid.end(), bids[j]);
    if (after == grid.begin()) return -1;
    type = type * static_cast<int>(grid.size()) + static_cast<int>(after - grid.begin()) - 1;
  }
  return type;
}

int64_t TypeSpace::stride(int bidder) const {
  int64_t stride = 1;
  for (int i = bidders - 1; i > bidder; --i) stride *= types(i);
  return stride;
}

int TypeSpace::type_in(int64_t profile, int bidder) const {
  return static_cast<int>(profile / stride(bidder) % types(bidder));
}

int64_t TypeSpace::with_type(int64_t profile, int bidder, int type) const {
  return profile + (type - type_in(profile, bidder)) * stride(bidder);
}

double TypeSpace::profile_probability(int64_t profile, int leave_out) const {
  double product = 1.0;
  for (int i = 0; i < bidders; ++i) {
    if (i != leave_out) product *= probability[i][type_in(profile, i)];
  }
  return product;
}

}  // namespace agora::auctions
