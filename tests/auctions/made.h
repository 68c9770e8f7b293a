#pragma once
// Mechanisms made by hand, whose lies are known.
#include <cmath>
#include <functional>

#include "auctions/mechanism.h"

namespace agora::auctions {

// What makes a computed mechanism small and quick; each kind takes what it knows of it.
inline Arguments trial_arguments(const MechanismKind& kind) {
  Arguments arguments{{"reserve", 0.4}, {"points", 5}, {"design-profiles", 300}};
  std::erase_if(arguments,
                [&](const auto& each) { return find(kind.parameters, each.first) == nullptr; });
  return arguments;
}

// A mechanism given by a function of one profile.
class Made : public FixedMechanism {
 public:
  using Rule = std::function<void(const double* bids, double* allocation, double* payments)>;
  Made(int bidders, int items, Rule rule)
      : FixedMechanism([&] {
          Parameters parameters;
          parameters.mechanism = "made";
          parameters.bidders = bidders;
          parameters.items = items;
          return parameters;
        }()),
        rule_(std::move(rule)) {}

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override {
    rule_(bids, allocation, payments);
  }

 private:
  Rule rule_;
};

// A smooth mechanism with gradients on [low, low + width]: the share and price of a soft threshold.
// Utilities and gains are `width` times those on [0, 1].
class Soft : public Made {
 public:
  explicit Soft(double low = 0.0, double width = 1.0)
      : Made(1, 1,
             [=](const double* bids, double* allocation, double* payments) {
               const double bid = (bids[0] - low) / width;
               allocation[0] = share(bid);
               payments[0] = price(bid) * width + share(bid) * low;
             }),
        low_(low),
        width_(width) {}
  bool has_gradients() const override { return true; }
  void utility_gradient(int64_t profiles, int, int, int, const double* values, const double* bids,
                        double* utility, double* gradient) const override {
    for (int64_t k = 0; k < profiles; ++k) {
      const double value = (values[k] - low_) / width_, bid = (bids[k] - low_) / width_;
      const double g = share(bid), slope = 8 * g * (1 - g);
      utility[k] = width_ * (g * value - price(bid));
      gradient[k] = slope * (value - 0.5 * bid) - 0.5 * g;
    }
  }
  static double share(double bid) { return 1 / (1 + std::exp(-8 * (bid - 0.5))); }
  static double price(double bid) { return 0.5 * share(bid) * bid; }

 private:
  double low_, width_;
};

}  // namespace agora::auctions
