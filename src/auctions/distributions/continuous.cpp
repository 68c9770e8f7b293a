// Laws with a density in closed form.
#include <algorithm>
#include <cmath>
#include <limits>

#include "auctions/distribution.h"
#include "auctions/special_functions.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestShape = 10'000;  // of a beta law, whose cdf is right to 1e-10 up to there

class Uniform : public Distribution {
 public:
  Uniform(double low, double high) : low_(low), width_(high - low) {}
  std::string text() const override { return fmt::format("uniform({},{})", low_, low_ + width_); }
  Interval support() const override { return {low_, low_ + width_}; }
  double mean() const override { return low_ + 0.5 * width_; }
  double cdf(double x) const override { return std::clamp((x - low_) / width_, 0.0, 1.0); }
  double density(double x) const override {
    return x < low_ || x > low_ + width_ ? 0.0 : 1.0 / width_;
  }
  double quantile(double q) const override { return low_ + q * width_; }

 private:
  double low_, width_;
};

class Drifting : public Uniform {
 public:
  explicit Drifting(double time) : Uniform(0.0, 1.0 + time), time_(time) {}
  std::string text() const override { return fmt::format("drifting({})", time_); }
  Law at(double time) const override { return drifting(time); }

 private:
  double time_;
};

class Exponential : public Distribution {
 public:
  explicit Exponential(double mean) : mean_(mean) {}
  std::string text() const override { return fmt::format("exponential({})", mean_); }
  Interval support() const override { return {0.0, kInfinity}; }
  double mean() const override { return mean_; }
  double cdf(double x) const override { return x <= 0.0 ? 0.0 : -std::expm1(-x / mean_); }
  double density(double x) const override { return x < 0.0 ? 0.0 : std::exp(-x / mean_) / mean_; }
  double quantile(double q) const override { return -mean_ * std::log1p(-q); }

 private:
  double mean_;
};

class Power : public Distribution {
 public:
  explicit Power(double c) : c_(c) {}
  std::string text() const override { return fmt::format("power({})", c_); }
  Interval support() const override { return {0.0, kInfinity}; }
  double mean() const override { return c_ > 1.0 ? 1.0 / (c_ - 1.0) : kInfinity; }
  double cdf(double x) const override { return x <= 0.0 ? 0.0 : -std::expm1(-c_ * std::log1p(x)); }
  double density(double x) const override {
    return x < 0.0 ? 0.0 : c_ * std::exp(-(c_ + 1.0) * std::log1p(x));
  }
  double quantile(double q) const override { return std::expm1(-std::log1p(-q) / c_); }

 private:
  double c_;
};

class TruncatedNormal : public Distribution {
 public:
  TruncatedNormal(double mean, double deviation, double low, double high)
      : mean_(mean), deviation_(deviation), low_(low), high_(high) {
    // Work on the side where the tail probabilities are small, so that nothing cancels.
    flipped_ = low > mean;
    below_ = normal_cdf(flipped_ ? z(high) * -1.0 : z(low));
    mass_ = normal_cdf(flipped_ ? -z(low) : z(high)) - below_;
  }
  std::string text() const override {
    return fmt::format("normal({},{},{},{})", mean_, deviation_, low_, high_);
  }
  Interval support() const override { return {low_, high_}; }
  double mass() const { return mass_; }
  double mean() const override {
    return mean_ + deviation_ * (normal_density(z(low_)) - normal_density(z(high_))) / mass_;
  }
  double cdf(double x) const override {
    if (x <= low_) return 0.0;
    if (x >= high_) return 1.0;
    const double share = (normal_cdf(flipped_ ? -z(x) : z(x)) - below_) / mass_;
    return flipped_ ? 1.0 - share : share;
  }
  double density(double x) const override {
    return x < low_ || x > high_ ? 0.0 : normal_density(z(x)) / (deviation_ * mass_);
  }
  double quantile(double q) const override {
    const double share = below_ + mass_ * (flipped_ ? 1.0 - q : q);
    const double x = mean_ + deviation_ * normal_quantile(share) * (flipped_ ? -1.0 : 1.0);
    return std::clamp(x, low_, high_);
  }

 private:
  double z(double x) const { return (x - mean_) / deviation_; }
  double mean_, deviation_, low_, high_;
  double below_, mass_;
  bool flipped_;
};

class LogNormal : public Distribution {
 public:
  LogNormal(double mean, double sigma) : mean_(mean), sigma_(sigma) {}
  std::string text() const override { return fmt::format("lognormal({},{})", mean_, sigma_); }
  Interval support() const override { return {0.0, kInfinity}; }
  double mean() const override { return std::exp(mean_ + 0.5 * sigma_ * sigma_); }
  double cdf(double x) const override { return x <= 0.0 ? 0.0 : normal_cdf(z(x)); }
  double density(double x) const override {
    return x <= 0.0 ? 0.0 : normal_density(z(x)) / (sigma_ * x);
  }
  double quantile(double q) const override {
    return q <= 0.0 ? 0.0 : std::exp(mean_ + sigma_ * normal_quantile(q));
  }

 private:
  double z(double x) const { return (std::log(x) - mean_) / sigma_; }
  double mean_, sigma_;  // of the logarithm
};

class Beta : public Distribution {
 public:
  Beta(double a, double b, double low, double high) : a_(a), b_(b), low_(low), width_(high - low) {
    log_constant_ = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
  }
  std::string text() const override {
    if (low_ == 0.0 && width_ == 1.0) return fmt::format("beta({},{})", a_, b_);
    return fmt::format("beta({},{},{},{})", a_, b_, low_, low_ + width_);
  }
  Interval support() const override { return {low_, low_ + width_}; }
  double mean() const override { return low_ + width_ * a_ / (a_ + b_); }
  double cdf(double x) const override { return incomplete_beta(a_, b_, (x - low_) / width_); }
  double density(double x) const override {
    const double y = (x - low_) / width_;
    if (y < 0.0 || y > 1.0) return 0.0;
    return std::exp(log_constant_ + (a_ - 1.0) * std::log(y) + (b_ - 1.0) * std::log1p(-y)) /
           width_;
  }
  double quantile(double q) const override {
    if (b_ == 1.0) return low_ + width_ * std::pow(q, 1.0 / a_);
    if (a_ == 1.0) return low_ - width_ * std::expm1(std::log1p(-q) / b_);
    return Distribution::quantile(q);
  }

 private:
  double a_, b_, low_, width_, log_constant_;
};

void require_interval(const char* name, double low, double high) {
  if (!(low >= 0.0) || !(high > low) || std::isinf(high)) {
    throw user_error("{}: expected 0 <= low < high, found low {} and high {}", name, low, high);
  }
}

void require_positive(const char* name, const char* parameter, double value) {
  if (!(value > 0.0) || std::isinf(value)) {
    throw user_error("{}: expected a positive {}, found {}", name, parameter, value);
  }
}

}  // namespace

Law uniform(double low, double high) {
  require_interval("uniform", low, high);
  return std::make_shared<Uniform>(low, high);
}

Law drifting(double time) {
  if (!(time > -1.0) || std::isinf(time)) {
    throw user_error("drifting: expected a time above -1, found {}", time);
  }
  return std::make_shared<Drifting>(time);
}

Law exponential(double mean) {
  require_positive("exponential", "mean", mean);
  return std::make_shared<Exponential>(mean);
}

Law power(double c) {
  require_positive("power", "exponent", c);
  return std::make_shared<Power>(c);
}

Law lognormal(double mean, double sigma) {
  require_positive("lognormal", "sigma", sigma);
  if (!std::isfinite(std::exp(mean + 0.5 * sigma * sigma)) || !(std::exp(mean) > 0.0)) {
    throw user_error("lognormal: expected a mean of values that is a number, found exp({}+{}^2/2)",
                     mean, sigma);
  }
  return std::make_shared<LogNormal>(mean, sigma);
}

Law truncated_normal(double mean, double deviation, double low, double high) {
  require_interval("normal", low, high);
  require_positive("normal", "standard deviation", deviation);
  auto law = std::make_shared<TruncatedNormal>(mean, deviation, low, high);
  if (!(law->mass() > 1e-290)) {
    throw user_error("normal: [{},{}] has no probability under mean {} and deviation {}", low, high,
                     mean, deviation);
  }
  return law;
}

Law beta(double a, double b, double low, double high) {
  require_interval("beta", low, high);
  require_positive("beta", "first shape", a);
  require_positive("beta", "second shape", b);
  if (std::max(a, b) > kLargestShape) {
    throw user_error("beta: expected shapes of at most {}, found {}", kLargestShape,
                     std::max(a, b));
  }
  return std::make_shared<Beta>(a, b, low, high);
}

}  // namespace agora::auctions
