#include "auctions/exact/virtual_value.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace agora::auctions {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kChords = 4096;
// The curve ends at this probability of a higher value; bounded laws have no tail to follow.
constexpr double kTail = 1e-10, kBoundedTail = 1e-7;

// One price on the revenue curve: it sells with probability q and earns value * q.
struct Price {
  double value, q, revenue;
};

// The vertices of the concave hull of the points (q, revenue), from the highest value (smallest
// q) to the lowest; `prices` in decreasing order of value.
std::vector<size_t> concave_hull(const std::vector<Price>& prices) {
  std::vector<size_t> hull;
  for (size_t k = 0; k < prices.size(); ++k) {
    while (!hull.empty()) {
      const Price& last = prices[hull.back()];
      if (last.q == prices[k].q && last.revenue >= prices[k].revenue) break;
      // The slopes must fall; the hull starts in (0, 0).
      const double q = hull.size() > 1 ? prices[hull[hull.size() - 2]].q : 0.0;
      const double revenue = hull.size() > 1 ? prices[hull[hull.size() - 2]].revenue : 0.0;
      const double turn = (last.q - q) * (prices[k].revenue - revenue) -
                          (prices[k].q - q) * (last.revenue - revenue);
      if (turn < 0.0) break;
      hull.pop_back();
    }
    if (hull.empty() || prices[hull.back()].q < prices[k].q) hull.push_back(k);
  }
  return hull;
}

double slope(const Price& a, const Price& b) { return (b.revenue - a.revenue) / (b.q - a.q); }

}  // namespace

VirtualValue::VirtualValue(const Distribution& law) {
  if (law.atoms().empty()) {
    from_curve(law);
  } else {
    from_atoms(law.atoms());
  }
}

VirtualValue::VirtualValue(std::vector<Knot> knots) : knots_(std::move(knots)) {
  CHECK(!knots_.empty(), "no knots");
}

void VirtualValue::from_atoms(const std::vector<Atom>& atoms) {
  std::vector<Price> prices;
  double q = 0.0;
  for (size_t k = atoms.size(); k-- > 0;) {
    q += atoms[k].probability;
    prices.push_back({atoms[k].value, q, atoms[k].value * q});
  }
  const std::vector<size_t> hull = concave_hull(prices);
  // From the highest value down: an edge of the hull gives its slope to the atoms it spans.
  Price before{0.0, 0.0, 0.0};
  for (size_t vertex : hull) {
    const double level = slope(before, prices[vertex]);
    if (!knots_.empty()) knots_.push_back({knots_.back().value, level});  // the step down
    knots_.push_back({prices[vertex].value, level});
    before = prices[vertex];
  }
  knots_.insert(knots_.begin(), {atoms.back().value, knots_.front().virtual_value});
  std::reverse(knots_.begin(), knots_.end());
}

void VirtualValue::from_curve(const Distribution& law) {
  const auto [low, high] = law.support();
  std::vector<double> values{low};
  if (std::isfinite(high)) values.push_back(high);
  for (int k = 1; k < kChords; ++k) values.push_back(law.quantile(k / double{kChords}));
  const double tail = std::isfinite(high) ? kBoundedTail : kTail;
  for (double q = 0.05; q > tail; q *= 0.99) values.push_back(law.quantile(1.0 - q));
  for (double point : law.breakpoints()) values.push_back(point);
  std::sort(values.begin(), values.end(), std::greater<>());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<Price> prices;
  for (double value : values) {
    const double q = 1.0 - law.cdf(value);
    if (q > 0.0) prices.push_back({value, q, value * q});
  }
  const std::vector<size_t> hull = concave_hull(prices);
  const size_t edges = hull.size() - 1;
  CHECK(edges >= 1, "{} has no revenue curve", law.text());
  // Edge e joins the vertices e and e + 1, in increasing order of value from here on.
  std::vector<double> vertex(edges + 1), level(edges), middle(edges);
  std::vector<bool> ironed(edges);
  for (size_t v = 0; v <= edges; ++v) vertex[v] = prices[hull[edges - v]].value;
  for (size_t e = 0; e < edges; ++e) {
    const size_t lower = hull[edges - e], upper = hull[edges - e - 1];
    level[e] = slope(prices[upper], prices[lower]);
    middle[e] = law.quantile(1.0 - 0.5 * (prices[lower].q + prices[upper].q));
    ironed[e] = lower - upper > 1;
  }
  // The level of an edge that is not ironed holds in its middle; lines join the middles of
  // neighbours and go on to a vertex beside which there is none.
  const auto line = [&](size_t e, size_t f, double value) {
    return level[e] + (value - middle[e]) * (level[f] - level[e]) / (middle[f] - middle[e]);
  };
  const auto smooth = [&](size_t e) { return e < edges && !ironed[e]; };  // e may be below 0
  for (size_t v = 0; v <= edges; ++v) {
    const size_t left = v - 1, right = v;
    if (v > 0 && smooth(left) && smooth(right)) {
      knots_.push_back({vertex[v], line(left, right, vertex[v])});
      continue;
    }
    if (v > 0) {
      const double end =
          smooth(left) && smooth(left - 1) ? line(left - 1, left, vertex[v]) : level[left];
      knots_.push_back({vertex[v], v < edges ? std::min(end, level[right]) : end});
    }
    if (v < edges) {
      const double begin =
          smooth(right) && smooth(right + 1) ? line(right, right + 1, vertex[v]) : level[right];
      knots_.push_back({vertex[v], v > 0 ? std::max(begin, level[left]) : begin});
    }
  }
  // The line goes on beyond the last price: to the end of the support, or far out.
  const Knot& a = knots_[knots_.size() - 2];
  const Knot& b = knots_.back();
  const double end = std::isfinite(high) ? high : 1e12 * (1.0 + b.value);
  if (b.value < end && a.value < b.value) {
    const double rise = (b.virtual_value - a.virtual_value) / (b.value - a.value);
    knots_.push_back({end, b.virtual_value + rise * (end - b.value)});
  }
}

double VirtualValue::operator()(double value) const {
  const auto after = std::upper_bound(knots_.begin(), knots_.end(), value,
                                      [](double x, const Knot& knot) { return x < knot.value; });
  if (after == knots_.begin()) return -kInfinity;
  const Knot& left = *(after - 1);
  if (after == knots_.end() || left.virtual_value == after->virtual_value)
    return left.virtual_value;
  const double share = (value - left.value) / (after->value - left.value);
  return left.virtual_value + share * (after->virtual_value - left.virtual_value);
}

double VirtualValue::at_least(double level) const {
  const auto found =
      std::lower_bound(knots_.begin(), knots_.end(), level,
                       [](const Knot& knot, double x) { return knot.virtual_value < x; });
  if (found == knots_.end()) return kInfinity;
  if (found == knots_.begin() || found->virtual_value == level) return found->value;
  const Knot& left = *(found - 1);
  const double share = (level - left.virtual_value) / (found->virtual_value - left.virtual_value);
  return left.value + share * (found->value - left.value);
}

double VirtualValue::above(double level) const {
  const auto found =
      std::upper_bound(knots_.begin(), knots_.end(), level,
                       [](double x, const Knot& knot) { return x < knot.virtual_value; });
  if (found == knots_.end()) return kInfinity;
  if (found == knots_.begin()) return found->value;
  const Knot& left = *(found - 1);
  const double share = (level - left.virtual_value) / (found->virtual_value - left.virtual_value);
  return left.value + share * (found->value - left.value);
}

std::vector<Interval> VirtualValue::ironed() const {
  std::vector<Interval> result;
  for (size_t k = 1; k < knots_.size(); ++k) {
    if (knots_[k].virtual_value == knots_[k - 1].virtual_value &&
        knots_[k].value > knots_[k - 1].value) {
      result.push_back({knots_[k - 1].value, knots_[k].value});
    }
  }
  return result;
}

}  // namespace agora::auctions
