#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace agora::planning {

// Sums of weight times value over the entries of a row that lead to earlier and later positions.
struct RowSums {
  double earlier = 0.0, later = 0.0;
};

// Rows of at most four entries, as grids have, padded to four by entries of weight zero: loops over
// them have no branch that depends on the data, which is worth more than the bytes. Weights that
// lead to later positions are kept negative, so that a maximum tells them apart.
struct PaddedRows {
  static constexpr size_t kWidth = 4;
  const int32_t* to;
  const double* signed_weight;

  size_t begin(size_t p) const { return kWidth * p; }
  size_t end(size_t p) const { return kWidth * p + kWidth; }
  double weight(size_t e) const { return std::abs(signed_weight[e]); }

  double sum(size_t p, const double* value) const {
    return over(p, [&](size_t e) { return std::abs(signed_weight[e]) * value[to[e]]; });
  }
  double earlier(size_t p, const double* value) const {
    return over(p, [&](size_t e) { return std::max(signed_weight[e], 0.0) * value[to[e]]; });
  }
  double later(size_t p, const double* value) const {
    return over(p, [&](size_t e) { return std::max(-signed_weight[e], 0.0) * value[to[e]]; });
  }
  double later_weight(size_t p) const {
    return over(p, [&](size_t e) { return std::max(-signed_weight[e], 0.0); });
  }
  // Of values that are not negative.
  RowSums sums(size_t p, const double* value) const {
    double x[kWidth];
    for (size_t k = 0; k < kWidth; ++k) {
      x[k] = signed_weight[kWidth * p + k] * value[to[kWidth * p + k]];
    }
    const auto half = [&](double sign) {
      return (std::max(sign * x[0], 0.0) + std::max(sign * x[1], 0.0)) +
             (std::max(sign * x[2], 0.0) + std::max(sign * x[3], 0.0));
    };
    return {half(1.0), half(-1.0)};
  }

 private:
  template <typename Term>
  static double over(size_t p, Term&& term) {
    const size_t e = kWidth * p;
    return (term(e) + term(e + 1)) + (term(e + 2) + term(e + 3));
  }
};

// Rows one after the other; entries [begin, split) lead to earlier positions, [split, end) to later
// ones.
struct PackedRows {
  const int32_t* to;
  const double* weights;
  const uint32_t* row_begin;
  const uint32_t* row_split;

  size_t begin(size_t p) const { return row_begin[p]; }
  size_t end(size_t p) const { return row_begin[p + 1]; }
  double weight(size_t e) const { return weights[e]; }

  double sum(size_t p, const double* value) const { return over(begin(p), end(p), value); }
  double earlier(size_t p, const double* value) const {
    return over(begin(p), row_split[p], value);
  }
  double later(size_t p, const double* value) const { return over(row_split[p], end(p), value); }
  RowSums sums(size_t p, const double* value) const { return {earlier(p, value), later(p, value)}; }
  double later_weight(size_t p) const {
    double sum = 0.0;
    for (size_t e = row_split[p]; e < end(p); ++e) sum += weights[e];
    return sum;
  }

 private:
  double over(size_t from, size_t until, const double* value) const {
    double sum = 0.0;
    for (size_t e = from; e < until; ++e) sum += weights[e] * value[to[e]];
    return sum;
  }
};

// A matrix over positions in one of the two layouts.
struct PathRows {
  std::vector<int32_t> to;
  std::vector<double> weight;          // negative if padded and to a later position
  std::vector<uint32_t> begin, split;  // empty if padded

  // body(rows) with rows of either layout.
  template <typename Body>
  auto visit(Body&& body) const {
    if (begin.empty()) return body(PaddedRows{to.data(), weight.data()});
    return body(PackedRows{to.data(), weight.data(), begin.data(), split.data()});
  }
};

}  // namespace agora::planning
