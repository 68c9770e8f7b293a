#pragma once
#include <vector>

#include "auctions/distribution.h"
#include "auctions/mechanism.h"

namespace agora::auctions {

// Myerson's ironed virtual value of one law: the slope of the concave hull of the revenue curve
// q -> q F^-1(1 - q), as a function of the value. Non-decreasing; piecewise linear between knots,
// constant where it is ironed, with jumps where two knots share a value; -infinity below the
// first knot. The unironed parts interpolate the slopes of some 6000 chords: relative errors are
// about 1e-7 in the middle of a smooth law and 1e-4 in its far tail (of a uniform one: none).
class VirtualValue {
 public:
  struct Knot {
    double value, virtual_value;
  };

  explicit VirtualValue(const Distribution& law);
  explicit VirtualValue(std::vector<Knot> knots);

  double operator()(double value) const;
  // The smallest value whose virtual value is at least `level`; infinity if there is none.
  double at_least(double level) const;
  // The infimum of the values whose virtual value is above `level`.
  double above(double level) const;
  double reserve() const { return at_least(0.0); }
  std::vector<Interval> ironed() const;  // where it is constant
  const std::vector<Knot>& knots() const { return knots_; }

 private:
  void from_atoms(const std::vector<Atom>& atoms);
  void from_curve(const Distribution& law);
  std::vector<Knot> knots_;
};

// Sells one item to the bidder with the highest non-negative virtual value; ties share it.
// bids[i * stride], allocation[i * stride], payments[i] are added to.
class OptimalSale {
 public:
  explicit OptimalSale(std::vector<std::shared_ptr<const VirtualValue>> virtual_values)
      : virtual_values_(std::move(virtual_values)) {}
  void run(const double* bids, int stride, double* allocation, double* payments) const;

 private:
  std::vector<std::shared_ptr<const VirtualValue>> virtual_values_;  // (bidders)
};

// Expected revenue of the optimal sale of one item to independent bidders: the expectation of the
// highest non-negative virtual value, by quadrature.
double optimal_revenue(const std::vector<Law>& bidders);

// Saves one law per bidder and sale, (bidders, sales), each distinct law once; and loads the sales.
void save_virtual_values(Parameters& parameters, const std::vector<std::vector<Law>>& laws);
std::vector<OptimalSale> load_sales(const Parameters& parameters, int sales);

// The laws (bidders, sales) of what counts of values: all that is above a bidder's budget is as if
// it were the budget. Those of bidders with budgets are cut into 4,096 values.
std::vector<std::vector<Law>> laws_within_budgets(const Setting& setting,
                                                  std::vector<std::vector<Law>> laws);

// The law of the sum of one bidder's values of all items.
Law sum_law(const Setting& setting, int bidder);

}  // namespace agora::auctions
