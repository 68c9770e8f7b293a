#include "auctions/exact/affine_maximiser.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "auctions/exact/evolution.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int64_t kMostAllocations = 4096;
constexpr int kMostParameters = 64;
constexpr int64_t kSearchProfiles = 20'000;  // for the search; the rest only polishes
constexpr uint64_t kSearches = 3;

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

// A free parameter by its name, and how many items it boosts the sale of.
struct NamedBoost {
  std::string name;
  int sold;
};

// Numbers the names that boosts_of(names, owners, bidders) gives to the allocations, in their
// order.
template <typename BoostsOf>
BoostFamily make_family(const Setting& setting, BoostsOf boosts_of) {
  const int n = setting.bidders(), m = setting.items();
  const Names names{setting.bidder_symmetric(), setting.item_symmetric()};
  BoostFamily family;
  std::map<std::string, int> known;
  for (int64_t a = 0; a < allocation_count(n, m); ++a) {
    std::vector<int> used;
    for (const NamedBoost& boost : boosts_of(names, allocation_owners(a, n, m), n)) {
      const auto [found, fresh] = known.try_emplace(boost.name, static_cast<int>(known.size()));
      if (fresh) family.start.push_back(-0.5 * boost.sold);
      used.push_back(found->second);
    }
    family.uses.push_back(std::move(used));
  }
  family.parameters = static_cast<int>(known.size());
  return family;
}

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
  thread_local std::vector<double> memory;
  memory.resize(static_cast<size_t>(n) * (m + 3) + 1);
  double* const scaled = memory.data();   // (n, m): w_i b_ij
  double* const shares = scaled + n * m;  // (n): w_i v_i(a)
  double* const without = shares + n;     // (n)
  double* const after = without + n;      // (n + 1): boost and shares from i on
  std::fill_n(without, n, -std::numeric_limits<double>::infinity());
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) scaled[i * m + j] = weights_[i] * bids[i * m + j];
  }
  const auto share_out = [=, this](int64_t a) {
    std::fill_n(shares, n, 0.0);
    const int* const owner = owner_.data() + a * m;
    for (int j = 0; j < m; ++j) {
      if (owner[j] >= 0) shares[owner[j]] += scaled[owner[j] * m + j];
    }
    after[n] = boosts_[a];
    for (int i = n - 1; i >= 0; --i) after[i] = after[i + 1] + shares[i];
  };
  // function(i, boost and shares of all but i): its own bids are in no such sum, so that one so
  // large that others vanish beside it pays the same.
  const auto each_without = [=](const auto& function) {
    double before = 0.0;
    for (int i = 0; i < n; ++i) {
      function(i, before + after[i + 1]);
      before += shares[i];
    }
  };
  double best = -std::numeric_limits<double>::infinity();
  int64_t chosen = 0;
  for (int64_t a = 0; a < allocations_; ++a) {
    share_out(a);
    if (after[0] > best) best = after[0], chosen = a;
    each_without([=](int i, double others) { without[i] = std::max(without[i], others); });
  }
  share_out(chosen);
  for (int j = 0; j < m; ++j) {
    const int owner = owner_[chosen * m + j];
    if (owner >= 0) allocation[owner * m + j] = 1.0;
  }
  each_without([&](int i, double others) {
    const double price = (without[i] - others) / weights_[i];
    payments[i] = std::clamp(price, 0.0, shares[i] / weights_[i]);  // rounding only
  });
}

BoostFamily allocation_boosts(const Setting& setting) {
  return make_family(setting, [](const Names& names, const std::vector<int>& owners, int bidders) {
    std::vector<std::string> parts;
    for (int i = 0; i < bidders; ++i) parts.push_back(names.bundle(owners, i));
    if (names.same_bidders) std::sort(parts.begin(), parts.end());
    const auto unsold = std::count(owners.begin(), owners.end(), -1);
    const int sold = static_cast<int>(owners.size() - unsold);
    std::vector<NamedBoost> boosts;  // nothing sold: boost 0
    if (sold > 0) boosts.push_back({fmt::format("{}", fmt::join(parts, "|")), sold});
    return boosts;
  });
}

BoostFamily bundle_boosts(const Setting& setting) {
  return make_family(setting, [](const Names& names, const std::vector<int>& owners, int bidders) {
    std::vector<NamedBoost> boosts;
    for (int i = 0; i < bidders; ++i) {
      const auto size = static_cast<int>(std::count(owners.begin(), owners.end(), i));
      const std::string bidder = names.same_bidders ? "" : fmt::format("b{}:", i);
      if (size > 0) boosts.push_back({bidder + names.bundle(owners, i), size});
    }
    return boosts;
  });
}

namespace {

// Boosts and weights of one family's parameters x: boosts in units of `scale`, then the logarithms
// of the weights after the first.
void fill(Parameters& parameters, const BoostFamily& family, double scale,
          const std::vector<double>& x) {
  const int n = parameters.bidders;
  Parameters::Tensor weights{{n}, std::vector<double>(n, 1.0)};
  for (size_t p = family.parameters; p < x.size(); ++p) {
    weights.values[p - family.parameters + 1] = std::exp(x[p]);
  }
  Parameters::Tensor boosts{{static_cast<int64_t>(family.uses.size())}, {}};
  for (const std::vector<int>& uses : family.uses) {
    double boost = 0.0;
    for (int p : uses) boost += scale * x[p];
    boosts.values.push_back(boost);
  }
  parameters.tensors["weights"] = std::move(weights);
  parameters.tensors["boosts"] = std::move(boosts);
}

// Parameters of a finer family that make the same boosts: each the mean over what it boosts.
std::vector<double> carried_over(const Parameters& coarse, const BoostFamily& fine, double scale,
                                 const std::vector<double>& x, int coarse_parameters) {
  std::vector<double> sum(fine.parameters, 0.0), count(fine.parameters, 0.0);
  const std::vector<double>& boosts = coarse.tensors.at("boosts").values;
  for (size_t a = 0; a < fine.uses.size(); ++a) {
    for (int p : fine.uses[a]) sum[p] += boosts[a] / scale, count[p] += 1.0;
  }
  for (int p = 0; p < fine.parameters; ++p) sum[p] /= std::max(count[p], 1.0);
  sum.insert(sum.end(), x.begin() + coarse_parameters, x.end());
  return sum;
}

double mean_revenue(const Parameters& parameters, const std::vector<double>& values,
                    int64_t profiles) {
  constexpr int64_t kSlice = 4096;
  const AffineMaximiser mechanism(parameters);
  const int n = parameters.bidders, m = parameters.items;
  const int64_t parts = (profiles + kSlice - 1) / kSlice;
  std::vector<double> sums(parts, 0.0);
  default_pool().run(parts, [&](int64_t part) {
    const int64_t begin = part * kSlice, count = std::min(profiles - begin, kSlice);
    thread_local std::vector<double> allocation, payments;
    allocation.resize(count * n * m);
    payments.resize(count * n);
    mechanism.run(count, n, m, values.data() + begin * n * m, allocation.data(), payments.data());
    for (double payment : payments) sums[part] += payment;
  });
  double total = 0.0;
  for (double sum : sums) total += sum;
  return total / static_cast<double>(profiles);
}

}  // namespace

double affine_effort(const Setting& setting, const std::vector<BoostFamily>& families) {
  constexpr double kSecondsPerStep = 6e-9;  // of one allocation, item or bidder
  const auto& table = laws_of(setting).table;
  const int64_t profiles =
      table ? std::min(table->design_profiles(), kSearchProfiles) : kSearchProfiles;
  double runs = 0.0;  // of one profile
  for (const BoostFamily& family : families) {
    runs += 300.0 * (kSearches + 1) * (family.parameters + 1) * static_cast<double>(profiles);
  }
  const double steps = setting.items() + setting.bidders();
  const auto allocations =
      static_cast<double>(allocation_count(setting.bidders(), setting.items()));
  return kSecondsPerStep * runs * allocations * steps;
}

Parameters optimise_affine(const std::string& name, const Setting& setting,
                           const std::vector<BoostFamily>& families, const Design& how) {
  const int n = setting.bidders(), m = setting.items();
  const int free_weights = setting.bidder_symmetric() ? 0 : n - 1;
  for (const BoostFamily& family : families) {
    if (family.parameters + free_weights <= kMostParameters) continue;
    throw user_error("{} cannot take setting \"{}\": {} parameters to optimise, at most {}", name,
                     setting.text(), family.parameters + free_weights, kMostParameters);
  }
  double scale = 0.0;  // the mean value of an item, the unit of the boosts
  for (const auto& row : marginal_laws(setting)) {
    for (const Law& law : row) scale += law->mean() / (n * m);
  }
  if (!(scale > 0.0) || std::isinf(scale)) scale = 1.0;
  const std::vector<double> values =
      design_values(setting, how.seed, how.told.whole<int64_t>(design_profiles().name));
  const int64_t profiles = static_cast<int64_t>(values.size()) / (int64_t{n} * m);

  // Revenue has local optima, where some allocations are never chosen: search from several starts
  // on few profiles, from the coarser family's answer among them, then polish on all profiles.
  Parameters parameters = parameters_for(name, setting);
  std::vector<double> best;
  for (size_t f = 0; f < families.size(); ++f) {
    const BoostFamily& family = families[f];
    const auto revenue_on = [&](int64_t count) {
      return [&, count](const std::vector<double>& x) {
        Parameters trial = parameters;
        fill(trial, family, scale, x);
        return mean_revenue(trial, values, count);
      };
    };
    const auto few = revenue_on(std::min(profiles, kSearchProfiles));
    const auto search = [&](std::vector<double> start, double step, uint64_t seed) {
      const int budget = 300 * (static_cast<int>(start.size()) + 1);
      return maximise(few, std::move(start), {.step = step, .evaluations = budget, .seed = seed});
    };
    std::vector<std::vector<double>> found;
    std::vector<double> start = family.start;
    start.resize(family.parameters + free_weights, 0.0);
    for (uint64_t k = 0; k < kSearches; ++k) {
      note_activity("family {} of {}, search {} of {}", f + 1, families.size(), k + 1, kSearches);
      found.push_back(search(start, 0.5, how.seed + k));
    }
    if (f > 0) {
      note_activity("family {} of {}, from the coarser one", f + 1, families.size());
      const int coarse = families[f - 1].parameters;
      found.push_back(search(carried_over(parameters, family, scale, best, coarse), 0.1, how.seed));
    }
    best = *std::max_element(found.begin(), found.end(),
                             [&](const auto& a, const auto& b) { return few(a) < few(b); });
    if (f + 1 == families.size() && profiles > kSearchProfiles) {
      note_activity("polishing on {} profiles", profiles);
      const int budget = 60 * (static_cast<int>(best.size()) + 1);
      best = maximise(revenue_on(profiles), best,
                      {.step = 0.03, .evaluations = budget, .seed = how.seed});
    }
    fill(parameters, family, scale, best);
  }
  parameters.notes["design_profiles"] = std::to_string(profiles);
  return parameters;
}

}  // namespace agora::auctions
