// The optimal sale of one item: Myerson's allocation by virtual values and its payments.
#include <algorithm>
#include <cmath>
#include <map>

#include "auctions/exact/virtual_value.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

constexpr double kMostLaws = 1e6;  // one per bidder and item

}  // namespace

// eq. payment_function: p(b) = b g(b) - integral of g up to b, where g is a step function of the
// own bid: 0, then 1/(ties + 1) while the virtual value equals the best of the others, then 1.
void OptimalSale::run(const double* bids, int stride, double* allocation, double* payments) const {
  const int n = static_cast<int>(virtual_values_.size());
  double best = 0.0, second = 0.0;  // the seller keeps the item at virtual value 0
  int best_bidder = -1, best_count = 0, second_count = 0;
  for (int i = 0; i < n; ++i) {
    const double level = (*virtual_values_[i])(bids[i * stride]);
    if (level > best || (level == best && best_count == 0)) {
      if (best_count > 0) second = best, second_count = best_count;
      best = level, best_bidder = i, best_count = 1;
    } else if (level == best) {
      ++best_count;
    } else if (level > second || (level == second && second_count == 0)) {
      second = level, second_count = 1;
    } else if (level == second) {
      ++second_count;
    }
  }
  if (best_count == 0) return;
  if (best_count == 1) {
    const VirtualValue& own = *virtual_values_[best_bidder];
    const double bid = bids[best_bidder * stride];
    const double low = std::min(own.at_least(second), bid);
    double price = low;
    if (second_count > 0) {
      const double high = std::clamp(own.above(second), low, bid);
      price = high - (high - low) / (second_count + 1);
    }
    allocation[best_bidder * stride] += 1.0;
    payments[best_bidder] += price;
    return;
  }
  for (int i = 0; i < n; ++i) {
    const double bid = bids[i * stride];
    if ((*virtual_values_[i])(bid) != best) continue;
    allocation[i * stride] += 1.0 / best_count;
    payments[i] += std::min(virtual_values_[i]->at_least(best), bid) / best_count;
  }
}

// The integral over t >= 0 of P(highest virtual value >= t), with t = x / (1 - x).
double optimal_revenue(const std::vector<Law>& bidders) {
  std::map<std::string, std::shared_ptr<VirtualValue>> known;
  std::vector<std::shared_ptr<VirtualValue>> virtual_values;
  for (const Law& law : bidders) {
    auto& value = known[law->text()];
    if (!value) value = std::make_shared<VirtualValue>(*law);
    virtual_values.push_back(value);
  }
  const auto sold_above = [&](double t) {
    double none = 1.0;
    for (size_t i = 0; i < bidders.size(); ++i) {
      const double price = virtual_values[i]->at_least(t);
      none *= std::isinf(price) ? 1.0 : 1.0 - survival(*bidders[i], price);
    }
    return 1.0 - none;
  };
  constexpr int kCells = 1 << 18;  // midpoint rule: an ironed step costs at most half a cell
  double sum = 0.0;
  for (int k = 0; k < kCells; ++k) {
    const double x = (k + 0.5) / kCells;
    sum += sold_above(x / (1.0 - x)) / ((1.0 - x) * (1.0 - x));
  }
  return sum / kCells;
}

void save_virtual_values(Parameters& parameters, const std::vector<std::vector<Law>>& laws) {
  std::map<std::string, int> known;
  Parameters::Tensor index{
      {static_cast<int64_t>(laws.size()), static_cast<int64_t>(laws.at(0).size())}, {}};
  for (const std::vector<Law>& bidder : laws) {
    for (const Law& law : bidder) {
      const auto [found, fresh] = known.try_emplace(law->text(), static_cast<int>(known.size()));
      index.values.push_back(found->second);
      if (!fresh) continue;
      const VirtualValue virtual_value(*law);
      Parameters::Tensor knots{{static_cast<int64_t>(virtual_value.knots().size()), 2}, {}};
      for (const VirtualValue::Knot& knot : virtual_value.knots()) {
        knots.values.insert(knots.values.end(), {knot.value, knot.virtual_value});
      }
      parameters.tensors[fmt::format("virtual_value.{}", found->second)] = std::move(knots);
    }
  }
  parameters.tensors["law"] = std::move(index);
}

std::vector<OptimalSale> load_sales(const Parameters& parameters, int sales) {
  const Parameters::Tensor& index = tensor(parameters, "law", {parameters.bidders, sales});
  std::map<int, std::shared_ptr<const VirtualValue>> known;
  std::vector<OptimalSale> result;
  for (int j = 0; j < sales; ++j) {
    std::vector<std::shared_ptr<const VirtualValue>> bidders;
    for (int i = 0; i < parameters.bidders; ++i) {
      const double number = index.values[i * sales + j];
      if (!(number >= 0.0 && number < kMostLaws)) {
        throw user_error("mechanism '{}': tensor 'law' holds {}, expected a law's number",
                         parameters.mechanism, number);
      }
      const int law = static_cast<int>(number);
      auto& value = known[law];
      if (!value) {
        const auto& saved = tensor(parameters, fmt::format("virtual_value.{}", law), {-1, 2});
        std::vector<VirtualValue::Knot> knots;
        for (size_t k = 0; k < saved.values.size(); k += 2) {
          knots.push_back({saved.values[k], saved.values[k + 1]});
          const bool rising = k == 0 || (saved.values[k] >= saved.values[k - 2] &&
                                         saved.values[k + 1] >= saved.values[k - 1]);
          if (!rising || std::isnan(saved.values[k]) || std::isnan(saved.values[k + 1])) {
            throw user_error("mechanism '{}': virtual_value.{} must not fall, but does at row {}",
                             parameters.mechanism, law, k / 2);
          }
        }
        if (knots.empty())
          throw user_error("mechanism '{}': virtual_value.{} is empty", parameters.mechanism, law);
        value = std::make_shared<VirtualValue>(std::move(knots));
      }
      bidders.push_back(value);
    }
    result.emplace_back(std::move(bidders));
  }
  return result;
}

}  // namespace agora::auctions
