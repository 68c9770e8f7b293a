#include "auctions/exact/menu.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace agora::auctions {
namespace {

constexpr double kRounding = 1e-9;

}  // namespace

Menu::Menu(Parameters parameters) : FixedMechanism(std::move(parameters)) {
  if (bidders() != 1) throw user_error("mechanism '{}': a menu serves one bidder", name());
  const int m = items();
  const Parameters own = this->parameters();
  const Parameters::Tensor& saved = tensor(own, "choices", {-1, m + 1});
  const int64_t rows = saved.shape[0];
  std::vector<int64_t> order;
  bool empty = false;
  for (int64_t k = 0; k < rows; ++k) {
    const double* row = saved.values.data() + k * (m + 1);
    bool nothing = row[m] == 0.0;
    for (int j = 0; j < m; ++j) {
      nothing = nothing && row[j] == 0.0;
      if (!(row[j] >= 0.0 && row[j] <= 1.0)) {
        throw user_error("mechanism '{}': choice {}: expected probabilities in [0,1], found {}",
                         name(), k, row[j]);
      }
    }
    if (!(row[m] >= 0.0)) {
      throw user_error("mechanism '{}': choice {}: expected a price of at least 0, found {}",
                       name(), k, row[m]);
    }
    const Limits& limits = own.limits;
    if (limits.demand == Demand::kUnit && std::accumulate(row, row + m, 0.0) > 1.0 + kRounding) {
      throw user_error("mechanism '{}': choice {} has more than one item for unit demand", name(),
                       k);
    }
    if (!limits.budgets.empty() && row[m] > limits.budgets[0]) {
      throw user_error("mechanism '{}': choice {} costs {}, the budget is {}", name(), k, row[m],
                       limits.budgets[0]);
    }
    empty = empty || nothing;
    order.push_back(k);
  }
  if (!empty) throw user_error("mechanism '{}': the empty choice is missing", name());
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return saved.values[a * (m + 1) + m] > saved.values[b * (m + 1) + m];
  });
  probabilities_.resize(rows * m);
  for (int64_t k = 0; k < rows; ++k) {
    const double* row = saved.values.data() + order[k] * (m + 1);
    for (int j = 0; j < m; ++j) probabilities_[j * rows + k] = row[j];
    prices_.push_back(row[m]);
  }
}

void Menu::run_profile(const double* bids, double* allocation, double* payments) const {
  thread_local std::vector<double> utility;
  const int64_t rows = size();
  utility.resize(rows);
  for (int64_t k = 0; k < rows; ++k) utility[k] = -prices_[k];
  for (int j = 0; j < items(); ++j) {
    const double* share = probabilities_.data() + j * rows;
    const double bid = bids[j];
    for (int64_t k = 0; k < rows; ++k) utility[k] += bid * share[k];
  }
  const int64_t best = std::max_element(utility.begin(), utility.end()) - utility.begin();
  for (int j = 0; j < items(); ++j) allocation[j] = probabilities_[j * rows + best];
  payments[0] = prices_[best];
}

Parameters menu_parameters(const std::string& mechanism, const Setting& setting,
                           std::vector<Choice> choices) {
  choices.push_back({std::vector<double>(setting.items(), 0.0), 0.0});
  const auto before = [](const Choice& a, const Choice& b) {
    return std::tie(a.probabilities, a.price) < std::tie(b.probabilities, b.price);
  };
  std::sort(choices.begin(), choices.end(), before);
  // Of several prices for the same probabilities nobody takes any but the lowest.
  choices.erase(std::unique(choices.begin(), choices.end(),
                            [](const Choice& a, const Choice& b) {
                              return a.probabilities == b.probabilities;
                            }),
                choices.end());
  Parameters parameters = parameters_for(mechanism, setting);
  Parameters::Tensor rows{{static_cast<int64_t>(choices.size()), setting.items() + 1}, {}};
  for (const Choice& choice : choices) {
    rows.values.insert(rows.values.end(), choice.probabilities.begin(), choice.probabilities.end());
    rows.values.push_back(choice.price);
  }
  parameters.tensors["choices"] = std::move(rows);
  return parameters;
}

}  // namespace agora::auctions
