#pragma once
#include <agora/auctions.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace agora::auctions {

struct Atom {
  double value, probability;
};

// The law of one bidder's value of one item.
class Distribution {
 public:
  virtual ~Distribution() = default;
  virtual std::string text() const = 0;  // as the grammar of settings writes it
  virtual Interval support() const = 0;  // high may be infinite
  virtual double mean() const = 0;
  virtual double cdf(double x) const = 0;      // P(value <= x)
  virtual double density(double x) const = 0;  // of the continuous part; 0 outside the support
  // The smallest x of the support with cdf(x) >= q, q in [0, 1]; bisection unless overridden.
  virtual double quantile(double q) const;
  virtual double sample(Rng& rng) const { return quantile(rng.uniform()); }
  // The atoms in increasing order when the law is discrete, otherwise empty.
  virtual const std::vector<Atom>& atoms() const;
  // Points where the density jumps, inside the support; virtual values look there.
  virtual std::vector<double> breakpoints() const { return {}; }
  // The law at a later time; nothing drifts unless it says so.
  virtual std::shared_ptr<const Distribution> at(double) const { return nullptr; }
};

using Law = std::shared_ptr<const Distribution>;

// Factories check their parameters and throw a UserError in one line.
Law uniform(double low, double high);
Law exponential(double mean);
Law power(double c);                       // density c / (1 + x)^(c + 1), x >= 0
Law lognormal(double mean, double sigma);  // of the logarithm
Law truncated_normal(double mean, double deviation, double low, double high);
Law beta(double a, double b, double low = 0.0, double high = 1.0);
Law drifting(double time);  // uniform on [0, 1 + time]
Law discrete(std::vector<Atom> atoms);
Law mixture(std::vector<std::pair<double, Law>> parts);
// Each of `values` equally likely; `text` names it in messages.
Law empirical(std::vector<double> values, std::string text);
// A continuous law with cdf[k] at points[k], linear between them.
Law tabulated(std::vector<double> points, std::vector<double> cdf, std::string text);

// P(value >= x).
double survival(const Distribution& law, double x);

}  // namespace agora::auctions
