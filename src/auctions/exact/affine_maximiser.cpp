#include "auctions/exact/affine_maximiser.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "auctions/exact/evolution.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int64_t kMostAllocations = 4096;
constexpr int kMostParameters = 64;

// What a bidder's row of bids can be exchanged for: its name in a class of allocations.
struct Names {
  bool same_bidders, same_items;
  // The set of items a bidder gets, or only their number when the items are alike.
  std::string bundle(const std::vector<int>& owners, int bidder) const {
    std::string name;
    for (size_t j = 0; j < owners.size(); ++j) {
      if (owners[j] == bidder) name += same_items ? "." : fmt::format("{},", j);
    }
    return name;
  }
};

}  // namespace

int64_t allocation_count(int bidders, int items) {
  int64_t count = 1;
  for (int j = 0; j < items && count <= kMostAllocations; ++j) count *= bidders + 1;
  return count;
}

std::vector<int> allocation_owners(int64_t index, int bidders, int items) {
  std::vector<int> owners(items);
  for (int& owner : owners) {
    owner = static_cast<int>(index % (bidders + 1)) - 1;
    index /= bidders + 1;
  }
  return owners;
}

std::string affine_refusal(const Setting& setting) {
  const int64_t count = allocation_count(setting.bidders(), setting.items());
  if (count <= kMostAllocations) return "";
  return fmt::format(
      "it lists all (n+1)^m allocations, at most {}; itemwise-myerson and bundle "
      "take any size",
      kMostAllocations);
}

AffineMaximiser::AffineMaximiser(Parameters parameters)
    : FixedMechanism(std::move(parameters)), allocations_(allocation_count(bidders(), items())) {
  if (allocations_ > kMostAllocations) {
    throw user_error("mechanism '{}': {}x{} has more than {} allocations", name(), bidders(),
                     items(), kMostAllocations);
  }
  const Parameters own = this->parameters();
  weights_ = tensor(own, "weights", {bidders()}).values;
  boosts_ = tensor(own, "boosts", {allocations_}).values;
  for (double weight : weights_) {
    if (!(weight > 0.0)) throw user_error("mechanism '{}': weights must be positive", name());
  }
  for (int64_t a = 0; a < allocations_; ++a) {
    for (int owner : allocation_owners(a, bidders(), items())) owner_.push_back(owner);
  }
}

void AffineMaximiser::run_profile(const double* bids, double* allocation, double* payments) const {
  const int n = bidders(), m = items();
  thread_local std::vector<double> scaled, shares, without;
  scaled.resize(static_cast<size_t>(n) * m);  // w_i b_ij
  shares.resize(n);                           // w_i v_i(a)
  without.assign(n, -std::numeric_limits<double>::infinity());
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) scaled[i * m + j] = weights_[i] * bids[i * m + j];
  }
  double best = -std::numeric_limits<double>::infinity();
  int64_t chosen = 0;
  for (int64_t a = 0; a < allocations_; ++a) {
    const int* owner = owner_.data() + a * m;
    std::fill(shares.begin(), shares.end(), 0.0);
    double total = boosts_[a];
    for (int j = 0; j < m; ++j) {
      if (owner[j] < 0) continue;
      shares[owner[j]] += scaled[owner[j] * m + j];
      total += scaled[owner[j] * m + j];
    }
    if (total > best) best = total, chosen = a;
    for (int i = 0; i < n; ++i) without[i] = std::max(without[i], total - shares[i]);
  }
  const int* owner = owner_.data() + chosen * m;
  std::fill(shares.begin(), shares.end(), 0.0);
  for (int j = 0; j < m; ++j) {
    if (owner[j] < 0) continue;
    allocation[owner[j] * m + j] = 1.0;
    shares[owner[j]] += scaled[owner[j] * m + j];
  }
  for (int i = 0; i < n; ++i) {
    const double price = (without[i] - (best - shares[i])) / weights_[i];
    payments[i] = std::clamp(price, 0.0, shares[i] / weights_[i]);  // rounding only
  }
}

BoostFamily allocation_boosts(const Setting& setting) {
  const int n = setting.bidders(), m = setting.items();
  const Names names{setting.bidder_symmetric(), setting.item_symmetric()};
  BoostFamily family;
  std::map<std::string, int> known;
  for (int64_t a = 0; a < allocation_count(n, m); ++a) {
    const std::vector<int> owners = allocation_owners(a, n, m);
    std::vector<std::string> parts;
    for (int i = 0; i < n; ++i) parts.push_back(names.bundle(owners, i));
    if (names.same_bidders) std::sort(parts.begin(), parts.end());
    const int sold = m - static_cast<int>(std::count(owners.begin(), owners.end(), -1));
    if (sold == 0) {
      family.uses.push_back({});  // nothing sold: boost 0
      continue;
    }
    const auto [found, fresh] =
        known.try_emplace(fmt::format("{}", fmt::join(parts, "|")), static_cast<int>(known.size()));
    if (fresh) family.start.push_back(-0.5 * sold);
    family.uses.push_back({found->second});
  }
  family.parameters = static_cast<int>(known.size());
  return family;
}

BoostFamily bundle_boosts(const Setting& setting) {
  const int n = setting.bidders(), m = setting.items();
  const Names names{setting.bidder_symmetric(), setting.item_symmetric()};
  BoostFamily family;
  std::map<std::string, int> known;
  for (int64_t a = 0; a < allocation_count(n, m); ++a) {
    const std::vector<int> owners = allocation_owners(a, n, m);
    std::vector<int> used;
    for (int i = 0; i < n; ++i) {
      const auto size = static_cast<int>(std::count(owners.begin(), owners.end(), i));
      if (size == 0) continue;
      const std::string bidder = names.same_bidders ? "" : fmt::format("b{}:", i);
      const auto [found, fresh] =
          known.try_emplace(bidder + names.bundle(owners, i), static_cast<int>(known.size()));
      if (fresh) family.start.push_back(-0.5 * size);
      used.push_back(found->second);
    }
    family.uses.push_back(used);
  }
  family.parameters = static_cast<int>(known.size());
  return family;
}

Parameters optimise_affine(const std::string& name, const Setting& setting,
                           const BoostFamily& family, const ExactOptions& options) {
  const int n = setting.bidders(), m = setting.items();
  const int free_weights = setting.bidder_symmetric() ? 0 : n - 1;
  if (family.parameters + free_weights > kMostParameters) {
    throw user_error("{} cannot take setting \"{}\": {} parameters to optimise, at most {}", name,
                     setting.text(), family.parameters + free_weights, kMostParameters);
  }
  double scale = 0.0;  // the mean value of an item, the unit of the boosts
  for (const auto& row : marginal_laws(setting)) {
    for (const Law& law : row) scale += law->mean() / (n * m);
  }
  if (!(scale > 0.0) || std::isinf(scale)) scale = 1.0;
  const int64_t profiles = options.design_profiles;
  std::vector<double> values(profiles * n * m);
  setting.sample(options.seed, kDesignStream, 0, profiles, values.data());

  Parameters parameters = parameters_for(name, setting);
  const auto fill = [&](const std::vector<double>& x) {
    Parameters::Tensor weights{{n}, std::vector<double>(n, 1.0)};
    for (int i = 0; i < free_weights; ++i) {
      weights.values[i + 1] = std::exp(x[family.parameters + i]);
    }
    Parameters::Tensor boosts{{static_cast<int64_t>(family.uses.size())}, {}};
    for (const std::vector<int>& uses : family.uses) {
      double boost = 0.0;
      for (int p : uses) boost += scale * x[p];
      boosts.values.push_back(boost);
    }
    parameters.tensors["weights"] = std::move(weights);
    parameters.tensors["boosts"] = std::move(boosts);
  };
  constexpr int64_t kSlice = 4096;
  const int64_t parts = (profiles + kSlice - 1) / kSlice;
  const auto revenue = [&](const std::vector<double>& x) {
    fill(x);
    const AffineMaximiser mechanism(parameters);
    std::vector<double> sums(parts);
    default_pool().run(parts, [&](int64_t part) {
      const int64_t begin = part * kSlice, count = std::min(profiles - begin, kSlice);
      thread_local std::vector<double> allocation, payments;
      allocation.resize(count * n * m);
      payments.resize(count * n);
      mechanism.run(count, n, m, values.data() + begin * n * m, allocation.data(), payments.data());
      sums[part] = 0.0;
      for (double payment : payments) sums[part] += payment;
    });
    double total = 0.0;
    for (double sum : sums) total += sum;
    return total / static_cast<double>(profiles);
  };
  std::vector<double> start = family.start;
  start.resize(family.parameters + free_weights, 0.0);
  const int budget = 300 * (static_cast<int>(start.size()) + 1);
  fill(maximise(revenue, start, {.step = 0.5, .evaluations = budget, .seed = options.seed}));
  parameters.notes["design_profiles"] = std::to_string(profiles);
  return parameters;
}

}  // namespace agora::auctions
