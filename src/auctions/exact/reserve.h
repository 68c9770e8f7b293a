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

// What mechanisms with reserves are told: numbers of all items or of each, and whether to fit them.
inline const char* const kFitReserves = "fit-reserves";
std::vector<Parameter> reserve_parameters();
std::vector<double> told_reserves(const Design& how, const Setting& setting);  // (items)
// So many profiles are drawn for it: fewer of large ones, as all are kept.
int64_t fit_profiles(const Setting& setting);
// Fitted to the rows of a table or to drawn profiles, as far as budgets go.
std::vector<double> reserves_by_profiles(const Design& how, const Setting& setting);  // (items)
// Values (p, n, items) as far as budgets go.
std::vector<double> within_budgets(std::vector<double> profiles, const Setting& setting, int items);

// The strongest rank correlation between two bidders' values of one item, and what of it chance
// could make: more than that is no chance.
struct Dependence {
  double correlation = 0, chance = 0;
  bool visible() const { return correlation > chance; }
};
Dependence bidders_dependence(const ValueTable& table);

// For each item of a table whose bidders visibly depend on each other, what virtual values would
// assume not to be so: a reserve fitted to the rows instead. False: nothing was done.
bool save_fitted_reserves(Parameters& parameters, const Setting& setting);

// Sales at reserves (sales) as they are loaded by load_sales(): everybody's virtual value is its
// bid less the reserve. `why` becomes a note.
void save_reserves(Parameters& parameters, const std::vector<double>& reserves,
                   const Dependence& why);

}  // namespace agora::auctions
