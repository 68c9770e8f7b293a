// Laws of one bidder's whole vector of values.
#include <cmath>

#include "auctions/setting.h"
#include "auctions/special_functions.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

std::string joined(const std::vector<Law>& items) {
  bool same = true;
  for (const Law& item : items) same = same && item->text() == items[0]->text();
  if (same) return items[0]->text();
  std::string text;
  for (const Law& item : items) text += (text.empty() ? "" : " ") + item->text();
  return text;
}

// The items at `time`, or empty when none of them drifts.
std::vector<Law> moved(std::vector<Law> items, double time) {
  bool changed = false;
  for (Law& item : items) {
    if (Law later = item->at(time)) changed = true, item = later;
  }
  return changed ? items : std::vector<Law>{};
}

class IndependentRow : public RowLaw {
 public:
  explicit IndependentRow(std::vector<Law> items) : RowLaw(std::move(items)) {}
  std::string text() const override { return joined(marginals_); }
  bool independent() const override { return true; }
  void sample(Rng& rng, double* row) const override {
    for (size_t j = 0; j < marginals_.size(); ++j) row[j] = marginals_[j]->sample(rng);
  }
  Row at(double time) const override {
    std::vector<Law> items = moved(marginals_, time);
    return items.empty() ? nullptr : independent_row(std::move(items));
  }
};

class CopulaRow : public RowLaw {
 public:
  CopulaRow(double rho, std::vector<Law> items) : RowLaw(std::move(items)), rho_(rho) {
    // Cholesky factor of the matrix with ones on the diagonal and rho elsewhere.
    const size_t m = marginals_.size();
    factor_.assign(m * m, 0.0);
    for (size_t j = 0; j < m; ++j) {
      for (size_t k = 0; k <= j; ++k) {
        double sum = j == k ? 1.0 : rho;
        for (size_t l = 0; l < k; ++l) sum -= factor_[j * m + l] * factor_[k * m + l];
        factor_[j * m + k] = j == k ? std::sqrt(std::max(sum, 0.0))
                                    : (factor_[k * m + k] > 0.0 ? sum / factor_[k * m + k] : 0.0);
      }
    }
  }
  std::string text() const override {
    return fmt::format("copula({}) {}", rho_, joined(marginals_));
  }
  void sample(Rng& rng, double* row) const override {
    const size_t m = marginals_.size();
    for (size_t j = 0; j < m; ++j) row[j] = rng.normal();
    for (size_t j = m; j-- > 0;) {
      double score = 0.0;
      for (size_t k = 0; k <= j; ++k) score += factor_[j * m + k] * row[k];
      row[j] = score;
    }
    for (size_t j = 0; j < m; ++j) row[j] = marginals_[j]->quantile(normal_cdf(row[j]));
  }
  Row at(double time) const override {
    std::vector<Law> items = moved(marginals_, time);
    return items.empty() ? nullptr : copula_row(rho_, std::move(items));
  }

 private:
  double rho_;
  std::vector<double> factor_;  // (items, items)
};

class TriangleRow : public RowLaw {
 public:
  explicit TriangleRow(double side)
      : RowLaw({beta(1.0, 2.0, 0.0, side), beta(1.0, 2.0, 0.0, side)}), side_(side) {}
  std::string text() const override { return fmt::format("triangle({})", side_); }
  void sample(Rng& rng, double* row) const override {
    double x = rng.uniform(), y = rng.uniform();
    if (x + y > 1.0) x = 1.0 - x, y = 1.0 - y;  // fold the upper half of the square back
    row[0] = side_ * x;
    row[1] = side_ * y;
  }
  Row at(double) const override { return nullptr; }

 private:
  double side_;
};

}  // namespace

bool RowLaw::item_symmetric() const {
  for (const Law& item : marginals_) {
    if (item->text() != marginals_[0]->text()) return false;
  }
  return true;
}

Row independent_row(std::vector<Law> items) {
  return std::make_shared<IndependentRow>(std::move(items));
}

Row copula_row(double rho, std::vector<Law> items) {
  const double lowest = items.size() > 1 ? -1.0 / static_cast<double>(items.size() - 1) : -1.0;
  if (!(rho >= lowest && rho <= 1.0)) {
    throw user_error("copula: expected a correlation between {} and 1, found {}", lowest, rho);
  }
  return std::make_shared<CopulaRow>(rho, std::move(items));
}

Row triangle_row(double side) {
  if (!(side > 0.0) || std::isinf(side)) {
    throw user_error("triangle: expected a positive side, found {}", side);
  }
  return std::make_shared<TriangleRow>(side);
}

}  // namespace agora::auctions
