#include "planning/z/krylov.h"

#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "planning/model/parts.h"

namespace agora::planning {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return sum_over_parts(static_cast<int64_t>(a.size()), [&](int64_t from, int64_t until) {
    double sum = 0.0;
    for (size_t i = static_cast<size_t>(from); i < static_cast<size_t>(until); ++i) {
      sum += a[i] * b[i];
    }
    return sum;
  });
}

double max_abs(const Vector& a) {
  return max_over_parts(static_cast<int64_t>(a.size()), [&](int64_t from, int64_t until) {
    double most = 0.0;
    for (size_t i = static_cast<size_t>(from); i < static_cast<size_t>(until); ++i) {
      most = larger(most, std::abs(a[i]));
    }
    return most;
  });
}

template <typename Body>
void for_all(const Vector& like, Body&& body) {
  in_parts(static_cast<int64_t>(like.size()), [&](int64_t from, int64_t until) {
    for (size_t i = static_cast<size_t>(from); i < static_cast<size_t>(until); ++i) body(i);
  });
}

// (D - L) D^-1 (D - U) with the diagonal D that gives it the row sums of I - P.
class ModifiedFactors {
 public:
  explicit ModifiedFactors(const PathSystem& system)
      : system_(system), inverse_(static_cast<size_t>(system.size()), 1.0) {
    Vector filled(inverse_.size(), 0.0);  // what a row passes on to the diagonals of later ones
    system.rows().visit([&](const auto rows) {
      for (size_t p = static_cast<size_t>(system.ends()); p < inverse_.size(); ++p) {
        const double diagonal = 1.0 - rows.earlier(p, filled.data());
        const double later = rows.later_weight(p);
        inverse_[p] = 1.0 / std::max(diagonal, later * (1.0 + 1e-6) + 1e-9);
        filled[p] = later * inverse_[p];
      }
    });
  }

  void solve(const Vector& r, Vector& x) const {
    const size_t ends = static_cast<size_t>(system_.ends()), n = inverse_.size();
    std::fill(x.begin(), x.begin() + system_.ends(), 0.0);
    system_.rows().visit([&](const auto rows) {
      for (size_t p = ends; p < n; ++p) x[p] = (r[p] + rows.earlier(p, x.data())) * inverse_[p];
      for (size_t p = n; p-- > ends;) x[p] += rows.later(p, x.data()) * inverse_[p];
    });
  }

 private:
  const PathSystem& system_;
  Vector inverse_;
};

// r - (v - P v): the ends keep their values, so the residual there is zero.
void residual_of(const PathSystem& system, const Vector& r, const Vector& v, Vector& out) {
  system.apply(v, out);
  for_all(
      v, [&](size_t i) { out[i] = static_cast<int32_t>(i) < system.ends() ? 0.0 : r[i] - out[i]; });
}

}  // namespace

int krylov_solve(const PathSystem& system, const Vector& r, Vector& v, double target,
                 int iterations) {
  const ModifiedFactors factors(system);
  const size_t n = v.size();
  Vector rest(n), shadow, p(n, 0.0), q(n, 0.0), s(n), t(n), p_hat(n), s_hat(n), best = v;
  residual_of(system, r, v, rest);
  shadow = rest;
  double rho = 1.0, alpha = 1.0, omega = 1.0, least = max_abs(rest);
  int k = 0;
  while (k < iterations && least > target) {
    ++k;
    const double rho_next = dot(shadow, rest);
    const double beta = rho_next / rho * (alpha / omega);
    rho = rho_next;
    for_all(p, [&](size_t i) { p[i] = rest[i] + beta * (p[i] - omega * q[i]); });
    factors.solve(p, p_hat);
    system.apply(p_hat, q);
    alpha = rho / dot(shadow, q);
    for_all(s, [&](size_t i) { s[i] = rest[i] - alpha * q[i]; });
    factors.solve(s, s_hat);
    system.apply(s_hat, t);
    omega = dot(t, s) / dot(t, t);
    for_all(v, [&](size_t i) {
      v[i] += alpha * p_hat[i] + omega * s_hat[i];
      rest[i] = s[i] - omega * t[i];
    });
    const double size = max_abs(rest);
    if (!std::isfinite(size)) break;
    if (size < least) {
      least = size;
      best = v;
    }
  }
  v = std::move(best);
  return k;
}

bool direct_solve(const PathSystem& system, const Vector& r, Vector& v) {
  const int ends = system.ends(), n = system.size() - ends;
  if (n == 0) return true;
  std::vector<Eigen::Triplet<double>> triplets;
  Eigen::VectorXd right(n);
  system.rows().visit([&](const auto rows) {
    for (int i = 0; i < n; ++i) {
      const size_t p = static_cast<size_t>(i) + static_cast<size_t>(ends);
      right[i] = r[p];
      triplets.emplace_back(i, i, 1.0);
      for (size_t e = rows.begin(p); e < rows.end(p); ++e) {
        const int t = rows.to[e];
        if (t < ends) {
          right[i] += rows.weight(e) * v[static_cast<size_t>(t)];
        } else {
          triplets.emplace_back(i, t - ends, -rows.weight(e));
        }
      }
    }
  });
  Eigen::SparseMatrix<double> matrix(n, n);
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  Eigen::SparseLU<Eigen::SparseMatrix<double>> lu;
  lu.setPivotThreshold(0.0);
  lu.compute(matrix);
  if (lu.info() != Eigen::Success) return false;
  const Eigen::VectorXd x = lu.solve(right);
  if (!x.allFinite()) return false;
  std::copy(x.data(), x.data() + n, v.begin() + ends);
  return true;
}

int64_t solve_values(const PathSystem& system, const Vector& r, Vector& v, double target,
                     bool direct) {
  constexpr int kPatience = 50;
  if (direct && direct_solve(system, r, v)) return 1;
  int64_t sweeps = 0;
  double residual = system.value_residual(r, v), check = INFINITY;
  bool plain = false;
  for (int cycle = 0, stalled = 0; residual > target && stalled < kPatience; ++cycle) {
    if (cycle % 8 == 0) {
      if (!plain && !(residual < 0.3 * check)) {
        sweeps += krylov_solve(system, r, v, target, 1000);
        residual = system.value_residual(r, v);
        if (residual <= target) break;
        if (system.size() <= kDirectLimit && direct_solve(system, r, v)) return sweeps + 1;
        plain = true;  // they converge if anything does
      } else if (plain && residual > 0.999 * check) {
        ++stalled;
      }
      check = residual;
    }
    residual = system.value_cycle(r, v, plain);
    sweeps += 2 * PathSystem::kCycle;
  }
  return sweeps;
}

}  // namespace agora::planning
