#include "auctions/exact/revenue_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "auctions/exact/linear_program.h"
#include "auctions/exact/type_space.h"
#include "auctions/limits.h"
#include "auctions/setting.h"
#include "base/progress.h"
#include "base/signals.h"

namespace agora::auctions {
namespace {

constexpr int kFewestPoints = 3, kMostPoints = 200;
constexpr int kSteps = 200;  // of a cell, for its mean
constexpr double kViolation = 1e-7;
constexpr int kRowsPerType = 2, kMostRounds = 200;

// One cell of a law: not more than its mean, and lines that are not below what the value of a share
// x of the cell can be. For any q, v x <= max(v - q, 0) + q x as x is at most 1.
struct Cell {
  double mean = 0;
  struct Line {
    double at_none, slope;
  };
  std::vector<Line> lines = {};  // empty: one value, worth mean * x
  double width = 0;              // of one in which all values are as likely; 0: they are not
};

// `mean_above` is not below the mean of the cell; where values end the steps tell it.
Cell cell_of(const Distribution& law, double from, double to, double mean_above) {
  const auto at = [&](double share) { return law.quantile(from + (to - from) * share); };
  std::vector<double> lower;
  double upper = 0.0;
  for (int k = 0; k < kSteps; ++k) {
    lower.push_back(at(k / double{kSteps}));
    upper += at((k + 1) / double{kSteps}) / kSteps;
  }
  upper = std::min(upper, mean_above);
  const auto least = [&](double q) {  // of the mean of min(v, q)
    double sum = 0.0;
    for (const double value : lower) sum += std::min(value, q) / kSteps;
    return sum;
  };
  Cell cell{.mean = least(at(1.0))};
  for (const double share : {0.0, 0.25, 0.5, 0.75}) {
    cell.lines.push_back({upper - least(at(share)), at(share)});
  }
  if (std::isfinite(at(1.0))) cell.lines.push_back({0.0, at(1.0)});
  return cell;
}

std::vector<Cell> cells_of(const Distribution& law, int points) {
  std::vector<Cell> cells;
  for (const Atom& atom : law.atoms()) cells.push_back({.mean = atom.value});
  double left = law.mean() * points;
  for (int k = 0; law.atoms().empty() && k < points; ++k) {
    const bool last = k + 1 == points;
    cells.push_back(cell_of(law, k / double(points), (k + 1) / double(points),
                            last ? left : std::numeric_limits<double>::infinity()));
    left -= cells.back().mean;
    if (law.text().starts_with("uniform(")) {
      const double low = law.quantile(k / double(points));
      cells.back().width = law.quantile((k + 1) / double(points)) - low;
      cells.back().mean = low + 0.5 * cells.back().width;
    }
  }
  return cells;
}

// A bidder's choice among its types, given the others' cells; columns of a type: its utility, the
// shares of the items and what those are worth.
struct Situation {
  int bidder;
  std::vector<int> utility;       // (types)
  std::vector<int> share, worth;  // (types, items)
};

class Relaxation {
 public:
  Relaxation(const Setting& setting, int points)
      : setting_(setting), space_(type_space(setting, points)) {
    const int n = space_.bidders, m = space_.items;
    for (const std::vector<Law>& row : marginal_laws(setting)) {
      cells_.emplace_back();
      for (const Law& law : row) cells_.back().push_back(cells_of(*law, points));
    }
    const int64_t profiles = space_.profiles();
    for (int64_t k = 0; k < profiles; ++k) {
      const double weight = space_.profile_probability(k);
      for (int cell = 0; cell < n * m; ++cell) {
        share_.push_back(lp_.add_column(0.0, 0.0, 1.0));
        worth_.push_back(lp_.add_column(weight, 0.0, LinearProgram::kUnbounded));
      }
      for (int i = 0; i < n; ++i) {
        utility_.push_back(lp_.add_column(-weight, 0.0, LinearProgram::kUnbounded));
      }
    }
    for (int64_t face = 0; face < profiles * n * m; ++face) {
      upper_face_.push_back(lp_.add_column(0.0, 0.0, LinearProgram::kUnbounded));
      lower_face_.push_back(lp_.add_column(0.0, 0.0, LinearProgram::kUnbounded));
    }
    for (int64_t k = 0; k < profiles; ++k) add_profile(k);
    for (int i = 0; i < n; ++i) add_situations(i);
    for (size_t s = 0; s < situations_.size(); ++s) add_neighbours(s);
  }

  double solve() {
    double revenue = 0.0;
    int rounds = 0;
    do {
      note_activity("bound: round {}, {} constraints", rounds + 1, lp_.rows());
      revenue = lp_.solve();
    } while (++rounds < kMostRounds && add_violated());  // with fewer constraints it is a bound too
    return revenue;
  }

 private:
  const Cell& cell(int bidder, int type, int item) const {
    const std::vector<Cell>& all = cells_[bidder][item];
    for (int j = space_.items - 1; j > item; --j)
      type /= static_cast<int>(cells_[bidder][j].size());
    return all[type % all.size()];
  }

  void add_profile(int64_t k) {
    const int n = space_.bidders, m = space_.items;
    for (int j = 0; j < m; ++j) {  // an item is given at most once
      std::vector<int> columns;
      for (int i = 0; i < n; ++i) columns.push_back(share_[(k * n + i) * m + j]);
      if (n > 1) lp_.add_row(columns, std::vector<double>(n, 1.0), 0.0, 1.0);
    }
    for (int i = 0; i < n; ++i) {
      const auto first = (k * n + i) * m;
      const int type = space_.type_in(k, i);
      if (setting_.unit_demand() && m > 1) {
        lp_.add_row({share_.begin() + first, share_.begin() + first + m},
                    std::vector<double>(m, 1.0), 0.0, 1.0);
      }
      if (std::isfinite(setting_.budget(i))) {
        std::vector<int> columns{worth_.begin() + first, worth_.begin() + first + m};
        std::vector<double> coefficients(m, 1.0);
        columns.push_back(utility_[k * n + i]);
        coefficients.push_back(-1.0);
        lp_.add_row(columns, coefficients, -LinearProgram::kUnbounded, setting_.budget(i));
      }
      for (int j = 0; j < m; ++j) {
        const Cell& own = cell(i, type, j);
        const std::vector<int> columns{worth_[first + j], share_[first + j]};
        if (own.lines.empty()) lp_.add_row(columns, {1.0, -own.mean}, 0.0, 0.0);
        for (const Cell::Line& line : own.lines) {
          lp_.add_row(columns, {1.0, -line.slope}, -LinearProgram::kUnbounded, line.at_none);
        }
        if (own.width > 0) add_faces(k, i, j, own);
      }
    }
  }

  // A bidder's utility is convex in its value and its slope is the share. In a cell where all
  // values are as likely, by parts along the item: the utilities of its faces, on average, differ
  // by width * share, and their mean is above that of the cell by worth - mean * share. Beyond a
  // face the slope is not smaller than before it.
  void add_faces(int64_t k, int i, int j, const Cell& own) {
    const int n = space_.bidders, m = space_.items;
    const int64_t row = k * n + i, at = row * m + j;
    int step = 1;
    for (int item = m - 1; item > j; --item) step *= static_cast<int>(cells_[i][item].size());
    const int type = space_.type_in(k, i),
              place = type / step % static_cast<int>(cells_[i][j].size());
    const int64_t before = space_.with_type(k, i, type - (place > 0 ? step : 0)) * n + i;
    const int lower = place > 0 ? upper_face_[before * m + j] : lower_face_[at];
    const int upper = upper_face_[at];
    lp_.add_row({upper, lower, share_[at]}, {1.0, -1.0, -own.width}, 0.0, 0.0);
    lp_.add_row({upper, lower, utility_[row], worth_[at], share_[at]},
                {0.5, 0.5, -1.0, -1.0, own.mean}, 0.0, 0.0);
    if (place == 0) return;
    lp_.add_row({utility_[row], utility_[before], lower}, {1.0, 1.0, -2.0}, 0.0,
                LinearProgram::kUnbounded);  // cells of one law have one width
  }

  // The first constraints of truth: against types 1, 2, 4, ... steps away in one item.
  void add_neighbours(size_t s) {
    const int bidder = situations_[s].bidder;
    for (int type = 0; type < space_.types(bidder); ++type) {
      add_truth(s, type, type);
      int step = 1;
      for (int j = space_.items - 1; j >= 0; --j) {
        const int size = static_cast<int>(cells_[bidder][j].size()), place = type / step % size;
        for (int far = 1; far < size; far *= 2) {
          if (place >= far) add_truth(s, type, type - far * step);
          if (place + far < size) add_truth(s, type, type + far * step);
        }
        step *= size;
      }
    }
  }

  void add_situations(int bidder) {
    const int n = space_.bidders, m = space_.items;
    for (int64_t k = 0; k < space_.profiles(); ++k) {
      if (space_.type_in(k, bidder) != 0) continue;  // one situation per types of the others
      Situation situation{bidder, {}, {}, {}};
      for (int type = 0; type < space_.types(bidder); ++type) {
        const int64_t row = space_.with_type(k, bidder, type) * n + bidder;
        situation.utility.push_back(utility_[row]);
        for (int j = 0; j < m; ++j) {
          situation.share.push_back(share_[row * m + j]);
          situation.worth.push_back(worth_[row * m + j]);
        }
      }
      situations_.push_back(std::move(situation));
    }
  }

  // u(type) >= u(other) + mean(type) . share(other) - worth(other)
  bool add_truth(size_t s, int type, int other) {
    if (!added_.emplace(s, type, other).second) return false;
    const Situation& situation = situations_[s];
    const int m = space_.items;
    std::vector<int> columns;
    std::vector<double> coefficients;
    if (type != other) {
      columns = {situation.utility[type], situation.utility[other]};
      coefficients = {1.0, -1.0};
    }
    for (int j = 0; j < m; ++j) {
      columns.insert(columns.end(),
                     {situation.share[other * m + j], situation.worth[other * m + j]});
      coefficients.insert(coefficients.end(), {-cell(situation.bidder, type, j).mean, 1.0});
    }
    lp_.add_row(columns, coefficients, 0.0, LinearProgram::kUnbounded);
    return true;
  }

  bool add_violated() {
    const std::vector<double>& x = lp_.solution();
    const int m = space_.items;
    bool any = false;
    for (size_t s = 0; s < situations_.size(); ++s) {
      throw_if_stopped();
      const Situation& situation = situations_[s];
      const int types = space_.types(situation.bidder);
      std::vector<double> offer(types), shares(static_cast<size_t>(types) * m), mean(m);
      for (int t = 0; t < types; ++t) {
        offer[t] = x[situation.utility[t]];
        for (int j = 0; j < m; ++j) {
          offer[t] -= x[situation.worth[t * m + j]];
          shares[t * m + j] = x[situation.share[t * m + j]];
        }
      }
      for (int type = 0; type < types; ++type) {
        for (int j = 0; j < m; ++j) mean[j] = cell(situation.bidder, type, j).mean;
        std::vector<std::pair<double, int>> worst;
        for (int other = 0; other < types; ++other) {
          double gain = offer[other] - x[situation.utility[type]];
          for (int j = 0; j < m; ++j) gain += mean[j] * shares[other * m + j];
          if (gain > kViolation) worst.emplace_back(-gain, other);
        }
        const size_t count = std::min<size_t>(worst.size(), kRowsPerType);
        std::partial_sort(worst.begin(), worst.begin() + static_cast<int64_t>(count), worst.end());
        for (size_t k = 0; k < count; ++k) any |= add_truth(s, type, worst[k].second);
      }
    }
    return any;
  }

  const Setting& setting_;
  TypeSpace space_;
  std::vector<std::vector<std::vector<Cell>>> cells_;  // (bidders, items, points)
  LinearProgram lp_;
  std::vector<int> share_, worth_,
      utility_;  // columns: (profiles, bidders, items) and without items
  std::vector<int> upper_face_,
      lower_face_;  // (profiles, bidders, items): lower ones of first cells
  std::vector<Situation> situations_;
  std::set<std::tuple<size_t, int, int>> added_;
};

}  // namespace

std::optional<RevenueBound> revenue_bound(const Setting& setting, int64_t profiles) {
  if (laws_of(setting).table) return std::nullopt;
  for (const Row& row : laws_of(setting).rows) {
    if (!row->independent()) return std::nullopt;
    for (const Law& law : row->marginals()) {
      if (!std::isfinite(law->mean())) return std::nullopt;
    }
  }
  int points = kMostPoints;
  while (points >= kFewestPoints &&
         type_profiles(setting, points) > static_cast<double>(profiles)) {
    --points;
  }
  if (points < kFewestPoints) return std::nullopt;
  return RevenueBound{Relaxation(setting, points).solve(), points};
}

}  // namespace agora::auctions
