#include "auctions/training/boost_slopes.h"

#include <cmath>

#include "auctions/exact/reserve.h"
#include "auctions/setting.h"
#include "auctions/training/recipes.h"
#include "base/signals.h"
#include "base/thread_pool.h"

namespace agora::auctions {

BoostShape::BoostShape(const Setting& setting, int bidders)
    : n(bidders),
      m(setting.items()),
      same_bidders(setting.bidder_symmetric()),
      same_items(setting.item_symmetric()),
      unit(unit_of_money(setting)),
      sizes(n, m),
      shared(shared_boosts(sizes, same_bidders)) {}

LearnedBoosts BoostShape::start(const Setting& setting) const {
  std::vector<double> reserves = reserves_for(setting);
  for (double& reserve : reserves) reserve /= unit;
  const double lowest = *std::min_element(reserves.begin(), reserves.end());
  LearnedBoosts first;
  for (const int sold : shared.sold) first.boosts.push_back(-lowest * sold);
  if (!plain()) {
    reserves.resize((same_bidders ? 1 : n) * m);
    for (const double reserve : reserves) first.terms.push_back(lowest - reserve);
  }
  if (!same_bidders) first.weights.assign(n, 0.0);
  return first;
}

HardBoosts BoostShape::hardened(const LearnedBoosts& learned) const {
  HardBoosts hard;
  for (const int64_t k : shared.of) hard.boosts.push_back(learned.boosts[k]);
  never_rising(sizes, hard.boosts, hard.from);
  hard.terms.assign(static_cast<size_t>(n) * m, 0.0);
  hard.weights.assign(n, 1.0);
  for (int e = 0; !plain() && e < n * m; ++e) {
    hard.terms[e] = std::min(0.0, learned.terms[term(e / m, e % m)]);
  }
  for (int i = 0; !same_bidders && i < n; ++i) hard.weights[i] = std::exp(learned.weights[i]);
  return hard;
}

Parameters BoostShape::parameters(const std::string& mechanism, const Setting& setting,
                                  const LearnedBoosts& learned) const {
  HardBoosts hard = hardened(learned);
  for (double& boost : hard.boosts) boost *= unit;
  for (double& term : hard.terms) term *= unit;
  Parameters result = parameters_for(mechanism, setting);
  result.tensors["weights"] = {{n}, std::move(hard.weights)};
  result.tensors["terms"] = {{n, m}, std::move(hard.terms)};
  result.tensors["boosts"] = {{sizes.count()}, std::move(hard.boosts)};
  return result;
}

BoostSlopes::BoostSlopes(const BoostShape& shape)
    : boosts(shape.shared.sold.size()),
      terms(shape.plain() ? 0 : (shape.same_bidders ? 1 : shape.n) * shape.m),
      weights(shape.same_bidders ? 0 : shape.n) {}

void BoostSlopes::add(const BoostSlopes& other) {
  const auto sum = [](std::vector<double>& to, const std::vector<double>& from) {
    for (size_t k = 0; k < to.size(); ++k) to[k] += from[k];
  };
  revenue += other.revenue;
  sum(boosts, other.boosts);
  sum(terms, other.terms);
  sum(weights, other.weights);
}

namespace {

using Tables = WorthTables<float>;

constexpr int64_t kProfilesPerPart = 64;
constexpr double kReach = 12;  // temperatures below the best, from where on nothing is chosen

// The slopes of one part of a batch. With U(a) the weighted worth of an allocation and its boosts,
// payers pay the sum of max U(a without i)/w_i - (U(a) - w_i b_i(a))/w_i, where a is drawn by
// exp(U/temperature).
class PartOfBatch {
 public:
  PartOfBatch(const BoostShape& shape, const HardBoosts& hard, double temperature, int payers)
      : shape_(shape),
        hard_(hard),
        temperature_(temperature),
        payers_(payers),
        tables_(shape.sizes),
        slopes_(shape),
        boosts_(hard.boosts.begin(), hard.boosts.end()),
        worths_(static_cast<size_t>(shape.n) * shape.m * Tables::kLanes),
        bids_(worths_.size()) {}

  const BoostSlopes& slopes() const { return slopes_; }

  // values (count, n, m), at most kLanes profiles
  void add(std::span<const float> values) {
    std::fill_n(revenues_, Tables::kLanes, 0.0);
    const size_t size = static_cast<size_t>(shape_.n) * shape_.m, count = values.size() / size;
    for (size_t e = 0; e < size; ++e) {
      for (size_t l = 0; l < count; ++l) {
        const double bid = values[l * size + e] / shape_.unit;
        bids_[e * Tables::kLanes + l] = static_cast<float>(bid);
        worths_[e * Tables::kLanes + l] =
            static_cast<float>(hard_.weights[e / shape_.m] * bid + hard_.terms[e]);
      }
    }
    tables_.fill(worths_.data());
    find_best(shape_.sizes.count(), [](int64_t k) { return k; });
    for (std::vector<int64_t>& each : near_) each.clear();
    const auto reach = static_cast<float>(kReach * temperature_);
    for (int64_t k = 0; k < shape_.sizes.count(); ++k) {
      for (size_t l = 0; l < count; ++l) {
        if (total(k, l) > best_[l] - reach) near_[l].push_back(k);
      }
    }
    for (size_t l = 0; l < count; ++l) choose(static_cast<int>(l));
    for (int i = 0; i < payers_; ++i) {
      const std::vector<int64_t>& without = shape_.sizes.without(i);
      find_best(static_cast<int64_t>(without.size()), [&](int64_t at) { return without[at]; });
      const double each = 1 / hard_.weights[i];
      for (size_t l = 0; l < count; ++l) {
        revenues_[l] += each * best_[l];
        push(which_[l], static_cast<int>(l), each);
        if (!shape_.same_bidders) slopes_.weights[i] -= each * best_[l];
      }
    }
    for (size_t l = 0; l < count; ++l) slopes_.revenue += revenues_[l];
  }

  const double* revenues() const { return revenues_; }  // of those added last

 private:
  float total(int64_t k, size_t lane) const {
    return tables_.of_all()[k * Tables::kLanes + static_cast<int64_t>(lane)] + boosts_[k];
  }

  template <typename At>
  void find_best(int64_t count, At at) {
    std::fill_n(best_, Tables::kLanes, -std::numeric_limits<float>::infinity());
    for (int64_t c = 0; c < count; ++c) {
      const int64_t k = at(c);
      for (int l = 0; l < Tables::kLanes; ++l) {
        const float sum = total(k, l);
        if (sum > best_[l]) best_[l] = sum, which_[l] = static_cast<int32_t>(k);
      }
    }
  }

  // What is smoothed: which k is chosen.
  void choose(int lane) {
    double inverse = 0, sum = 0, mean = 0, mean_total = 0;
    for (int i = 0; i < payers_; ++i) inverse += 1 / hard_.weights[i];
    chances_.clear();
    left_.clear();
    for (const int64_t k : near_[lane]) {
      const double here = total(k, lane);
      chances_.push_back(std::exp((here - best_[lane]) / temperature_));
      left_.push_back(inverse * here - worth(k, lane));
      sum += chances_.back();
    }
    for (size_t a = 0; a < chances_.size(); ++a) {
      chances_[a] /= sum;
      mean += chances_[a] * left_[a];
      mean_total += chances_[a] * total(near_[lane][a], lane);
    }
    revenues_[lane] -= mean;
    for (size_t a = 0; a < chances_.size(); ++a) {
      push(near_[lane][a], lane, -chances_[a] * (inverse + (left_[a] - mean) / temperature_));
    }
    for (int i = 0; !shape_.same_bidders && i < payers_; ++i) {
      slopes_.weights[i] += mean_total / hard_.weights[i];
    }
  }

  // What payers who get something bid for it.
  double worth(int64_t k, int lane) const {
    double sum = 0;
    if (shape_.plain() && payers_ == shape_.n) return tables_.of_all()[k * Tables::kLanes + lane];
    tables_.each_sale(k, lane, [&](int i, int j) {
      if (i < payers_) sum += bid(i, j, lane);
    });
    return sum;
  }

  double bid(int i, int j, int lane) const {
    return bids_[(i * shape_.m + j) * Tables::kLanes + lane];
  }

  // A slope in the total of k.
  void push(int64_t k, int lane, double slope) {
    slopes_.boosts[shape_.shared.of[hard_.from[k]]] += slope;
    if (shape_.plain()) return;
    tables_.each_sale(k, lane, [&](int i, int j) {
      slopes_.terms[shape_.term(i, j)] += slope;
      if (!shape_.same_bidders) slopes_.weights[i] += slope * hard_.weights[i] * bid(i, j, lane);
    });
  }

  const BoostShape& shape_;
  const HardBoosts& hard_;
  double temperature_;
  int payers_;
  Tables tables_;
  BoostSlopes slopes_;
  std::vector<float> boosts_, worths_, bids_;
  std::vector<double> chances_, left_;
  std::vector<int64_t> near_[Tables::kLanes];
  float best_[Tables::kLanes];
  double revenues_[Tables::kLanes];
  int32_t which_[Tables::kLanes] = {};
};

}  // namespace

BoostSlopes boost_slopes(const BoostShape& shape, const HardBoosts& hard,
                         std::span<const float> values, double temperature, int payers,
                         std::span<double> revenues) {
  const int64_t size = int64_t{shape.n} * shape.m,
                batch = static_cast<int64_t>(values.size()) / size;
  const int64_t parts = (batch + kProfilesPerPart - 1) / kProfilesPerPart;
  std::vector<BoostSlopes> found(parts, BoostSlopes(shape));
  default_pool().run(parts, [&](int64_t part) {
    PartOfBatch own(shape, hard, temperature, payers);
    const int64_t end = std::min(batch, (part + 1) * kProfilesPerPart);
    for (int64_t k = part * kProfilesPerPart; k < end; k += Tables::kLanes) {
      throw_if_stopped();
      const int64_t count = std::min<int64_t>(Tables::kLanes, end - k);
      own.add(values.subspan(k * size, count * size));
      if (!revenues.empty()) std::copy_n(own.revenues(), count, revenues.begin() + k);
    }
    found[part] = own.slopes();
  });
  BoostSlopes all(shape);
  for (const BoostSlopes& part : found) all.add(part);
  return all;
}

}  // namespace agora::auctions
