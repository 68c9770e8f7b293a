#pragma once
#include <utility>
#include <vector>

#include "auctions/mechanism.h"
#include "auctions/setting.h"

// Reserves fitted to profiles as they are, without a word about the laws they come from.
namespace agora::auctions {

// The reserve at which sales, each a highest and a second bid, earn most together.
double best_reserve(const std::vector<std::pair<double, double>>& sales);
// That of each item, in profiles (p, n, m).
std::vector<double> fitted_reserves(const std::vector<double>& profiles, int bidders, int items);
// (n, m): of the optimal sale of each item to each bidder by their laws; by the rows of a table.
std::vector<double> reserves_for(const Setting& setting);

// The strongest rank correlation between two bidders' values of one item, and what of it chance
// could make: more than that is no chance.
struct Dependence {
  double correlation = 0, chance = 0;
  bool visible() const { return correlation > chance; }
};
Dependence bidders_dependence(const ValueTable& table);

// Sales at reserves (sales) as they are loaded by load_sales(): everybody's virtual value is its
// bid less the reserve. `why` becomes a note.
void save_reserves(Parameters& parameters, const std::vector<double>& reserves,
                   const Dependence& why);

}  // namespace agora::auctions
