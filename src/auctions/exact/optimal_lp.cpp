#include "auctions/exact/optimal_lp.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

#include "auctions/exact/linear_program.h"
#include "auctions/limits.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/signals.h"

namespace agora::auctions {
namespace {

constexpr double kViolation = 1e-9;  // a constraint violated by less holds
constexpr int kMostRounds = 2000;
constexpr int kRowsPerSituation = 3;  // the worst ones, per type and situation of the others

// A bidder's choice among its types, given the others: under dominant strategies one situation
// per profile of the others' types, in the Bayesian program a single one. Columns of a situation:
// utility(type) >= 0 and share(type, item), with utility = value of the shares - payment.
struct Situation {
  int bidder;
  std::vector<int> utility;  // (types)
  std::vector<int> share;    // (types, items)
};

class Program {
 public:
  Program(const TypeSpace& space, bool dominant, const Limits& limits)
      : space_(space), dominant_(dominant), limits_(limits) {
    const int n = space.bidders, m = space.items;
    const int64_t profiles = space.profiles();
    allocation_.resize(profiles * n * m);
    for (int64_t k = 0; k < profiles; ++k) {
      const double weight = space.profile_probability(k);
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < m; ++j) {
          const double gain = dominant ? weight * space.value(i, space.type_in(k, i), j) : 0.0;
          allocation_[(k * n + i) * m + j] = lp_.add_column(gain, 0.0, 1.0);
        }
      }
      for (int j = 0; n > 1 && j < m; ++j) {  // an item is given at most once
        std::vector<int> columns;
        for (int i = 0; i < n; ++i) columns.push_back(allocation_[(k * n + i) * m + j]);
        lp_.add_row(columns, std::vector<double>(n, 1.0), 0.0, 1.0);
      }
    }
    for (int64_t row = 0; limits.demand == Demand::kUnit && m > 1 && row < profiles * n; ++row) {
      const auto first = allocation_.begin() + row * m;
      lp_.add_row({first, first + m}, std::vector<double>(m, 1.0), 0.0, 1.0);
    }
    for (int i = 0; i < n; ++i) dominant ? add_dominant(i) : add_bayesian(i);
    for (const Situation& situation : situations_) add_budget(situation);
    for (const Situation& situation : situations_) {
      for (int type = 0; type < space.types(situation.bidder); ++type)
        add_neighbours(situation, type);
    }
  }

  OptimalMechanism solve() {
    OptimalMechanism result;
    do {
      note_activity("round {}, {} constraints", result.rounds + 1, lp_.rows());
      result.revenue = lp_.solve();
      CHECK(++result.rounds <= kMostRounds, "no end of violated constraints");
    } while (add_violated());
    result.constraints = static_cast<int>(added_.size());
    extract(result);
    return result;
  }

 private:
  void add_dominant(int bidder) {
    const int m = space_.items, n = space_.bidders;
    for (int64_t k = 0; k < space_.profiles(); ++k) {
      if (space_.type_in(k, bidder) != 0) continue;  // one situation per types of the others
      Situation situation{bidder, {}, {}};
      for (int type = 0; type < space_.types(bidder); ++type) {
        const int64_t profile = space_.with_type(k, bidder, type);
        situation.utility.push_back(
            lp_.add_column(-space_.profile_probability(profile), 0.0, LinearProgram::kUnbounded));
        for (int j = 0; j < m; ++j) {
          situation.share.push_back(allocation_[(profile * n + bidder) * m + j]);
        }
      }
      situations_.push_back(std::move(situation));
    }
  }

  void add_bayesian(int bidder) {
    const int m = space_.items, n = space_.bidders;
    Situation situation{bidder, {}, {}};
    for (int type = 0; type < space_.types(bidder); ++type) {
      const double weight = space_.probability[bidder][type];
      situation.utility.push_back(lp_.add_column(-weight, 0.0, LinearProgram::kUnbounded));
      for (int j = 0; j < m; ++j) {
        situation.share.push_back(lp_.add_column(weight * space_.value(bidder, type, j), 0.0, 1.0));
      }
    }
    // The interim share is the expectation over the others' types.
    std::vector<std::vector<int>> columns(situation.share.size());
    std::vector<std::vector<double>> coefficients(situation.share.size());
    for (int64_t k = 0; k < space_.profiles(); ++k) {
      const int type = space_.type_in(k, bidder);
      for (int j = 0; j < m; ++j) {
        columns[type * m + j].push_back(allocation_[(k * n + bidder) * m + j]);
        coefficients[type * m + j].push_back(space_.profile_probability(k, bidder));
      }
    }
    for (size_t e = 0; e < columns.size(); ++e) {
      columns[e].push_back(situation.share[e]);
      coefficients[e].push_back(-1.0);
      lp_.add_row(columns[e], coefficients[e], 0.0, 0.0);
    }
    situations_.push_back(std::move(situation));
  }

  // v(type) . share(type) - u(type) <= budget
  void add_budget(const Situation& situation) {
    const double budget = budget_of(limits_, situation.bidder);
    const int m = space_.items;
    for (int type = 0; std::isfinite(budget) && type < space_.types(situation.bidder); ++type) {
      std::vector<int> columns{situation.utility[type]};
      std::vector<double> coefficients{-1.0};
      for (int j = 0; j < m; ++j) {
        columns.push_back(situation.share[type * m + j]);
        coefficients.push_back(space_.value(situation.bidder, type, j));
      }
      lp_.add_row(columns, coefficients, -LinearProgram::kUnbounded, budget);
    }
  }

  // u(type) - u(other) >= (v(type) - v(other)) . share(other)
  void add_truth(const Situation& situation, int type, int other) {
    if (!added_.emplace(&situation, type, other).second) return;
    const int m = space_.items;
    std::vector<int> columns{situation.utility[type], situation.utility[other]};
    std::vector<double> coefficients{1.0, -1.0};
    for (int j = 0; j < m; ++j) {
      const double difference =
          space_.value(situation.bidder, type, j) - space_.value(situation.bidder, other, j);
      if (difference == 0.0) continue;
      columns.push_back(situation.share[other * m + j]);
      coefficients.push_back(-difference);
    }
    lp_.add_row(columns, coefficients, 0.0, LinearProgram::kUnbounded);
  }

  // The first constraints: against the types one step away in one item.
  void add_neighbours(const Situation& situation, int type) {
    int step = 1;
    for (int j = space_.items - 1; j >= 0; --j) {
      const int size = static_cast<int>(space_.grids[situation.bidder][j].size());
      const int place = type / step % size;
      if (place > 0) add_truth(situation, type, type - step);
      if (place + 1 < size) add_truth(situation, type, type + step);
      step *= size;
    }
  }

  bool add_violated() {
    const std::vector<double>& x = lp_.solution();
    const int m = space_.items;
    bool any = false;
    for (const Situation& situation : situations_) {
      throw_if_stopped();
      const int types = space_.types(situation.bidder);
      std::vector<double> values(types * m), offer(types);
      for (int t = 0; t < types; ++t) {  // a type's gain from `other`: v . share - payment
        offer[t] = x[situation.utility[t]];
        for (int j = 0; j < m; ++j) {
          values[t * m + j] = space_.value(situation.bidder, t, j);
          offer[t] -= values[t * m + j] * x[situation.share[t * m + j]];
        }
      }
      for (int type = 0; type < types; ++type) {
        std::vector<std::pair<double, int>> worst;
        for (int other = 0; other < types; ++other) {
          double gain = offer[other] - x[situation.utility[type]];
          for (int j = 0; j < m; ++j) {
            gain += values[type * m + j] * x[situation.share[other * m + j]];
          }
          if (gain > kViolation) worst.emplace_back(-gain, other);
        }
        const size_t count = std::min<size_t>(worst.size(), kRowsPerSituation);
        std::partial_sort(worst.begin(), worst.begin() + count, worst.end());
        for (size_t k = 0; k < count; ++k) {
          const size_t before = added_.size();
          add_truth(situation, type, worst[k].second);
          any = any || added_.size() > before;
        }
      }
    }
    return any;
  }

  void extract(OptimalMechanism& result) const {
    const std::vector<double>& x = lp_.solution();
    const int n = space_.bidders, m = space_.items;
    const int64_t profiles = space_.profiles();
    for (int column : allocation_) result.allocation.push_back(std::clamp(x[column], 0.0, 1.0));
    for (int64_t row = 0; limits_.demand == Demand::kUnit && row < profiles * n; ++row) {
      double* shares = result.allocation.data() + row * m;  // one item to the last bit
      const double items = std::max(1.0, std::accumulate(shares, shares + m, 0.0));
      for (int j = 0; j < m; ++j) shares[j] /= items;
    }
    result.payments.resize(profiles * n);
    const auto value_at = [&](const Situation& s, int type) {
      double value = 0.0;
      for (int j = 0; j < m; ++j) {
        value += space_.value(s.bidder, type, j) * x[s.share[type * m + j]];
      }
      return value;
    };
    std::vector<size_t> next(n, 0);  // dominant: situations come in the order of the profiles
    for (const Situation& situation : situations_) {
      const int i = situation.bidder;
      int64_t base = 0;
      if (dominant_) {
        while (space_.type_in(static_cast<int64_t>(next[i]), i) != 0) ++next[i];
        base = static_cast<int64_t>(next[i]++);
      }
      for (int type = 0; type < space_.types(i); ++type) {
        const double value = std::max(0.0, value_at(situation, type));
        const double payment = std::clamp(value - x[situation.utility[type]], 0.0,
                                          std::min(value, budget_of(limits_, i)));
        if (dominant_) {
          result.payments[space_.with_type(base, i, type) * n + i] = payment;
          continue;
        }
        for (int64_t k = 0; k < profiles; ++k) {  // in proportion to the value received
          if (space_.type_in(k, i) != type || value <= 0.0) continue;
          double got = 0.0;
          for (int j = 0; j < m; ++j) {
            got += space_.value(i, type, j) * result.allocation[(k * n + i) * m + j];
          }
          result.payments[k * n + i] = payment * got / value;
        }
      }
    }
  }

  const TypeSpace& space_;
  bool dominant_;
  const Limits& limits_;
  LinearProgram lp_;
  std::vector<int> allocation_;  // (profiles, bidders, items): columns
  std::vector<Situation> situations_;
  std::set<std::tuple<const Situation*, int, int>> added_;
};

}  // namespace

OptimalMechanism solve_optimal(const TypeSpace& space, bool dominant, const Limits& limits) {
  return Program(space, dominant, limits).solve();
}

}  // namespace agora::auctions
