#include "auctions/exact/evolution.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/rng.h"

namespace agora::auctions {

Parameter design_profiles() {
  return {"design-profiles", 200'000, 1,
          100'000'000,       true,    "profiles their parameters are fitted to"};
}

std::vector<double> maximise(const std::function<double(const std::vector<double>&)>& objective,
                             std::vector<double> start, const Evolution& options) {
  using Vector = Eigen::VectorXd;
  const int d = static_cast<int>(start.size());
  CHECK(d > 0, "nothing to search");
  const int population = 4 + static_cast<int>(3 * std::log(d)), parents = population / 2;
  Vector weights(parents);
  for (int k = 0; k < parents; ++k) weights[k] = std::log(parents + 0.5) - std::log(k + 1.0);
  weights /= weights.sum();
  const double mass = 1.0 / weights.squaredNorm();
  const double c_path = (4 + mass / d) / (d + 4 + 2 * mass / d);
  const double c_step = (mass + 2) / (d + mass + 5);
  const double c_one = 2 / ((d + 1.3) * (d + 1.3) + mass);
  const double c_rank =
      std::min(1 - c_one, 2 * (mass - 2 + 1 / mass) / ((d + 2.0) * (d + 2.0) + mass));
  const double damping = 1 + 2 * std::max(0.0, std::sqrt((mass - 1) / (d + 1)) - 1) + c_step;
  const double expected_norm = std::sqrt(d) * (1 - 1.0 / (4 * d) + 1.0 / (21.0 * d * d));

  const auto value_of = [&](const Vector& x) {
    return objective(std::vector<double>(x.data(), x.data() + d));
  };
  Vector mean = Eigen::Map<Vector>(start.data(), d), best = mean;
  double best_value = value_of(mean), step = options.step;
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Identity(d, d);
  Vector path = Vector::Zero(d), step_path = Vector::Zero(d);
  int used = 1;
  for (uint32_t generation = 0; used + population < options.evaluations; ++generation) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance);
    const Vector scales = eigen.eigenvalues().cwiseMax(1e-20).cwiseSqrt();
    if (step * scales.maxCoeff() < 1e-5 * options.step) break;
    Rng rng(options.seed, 107, generation);
    std::vector<Vector> points(population);
    std::vector<double> values(population);
    for (int k = 0; k < population; ++k) {
      Vector z(d);
      for (int e = 0; e < d; ++e) z[e] = rng.normal();
      points[k] = eigen.eigenvectors() * scales.cwiseProduct(z);
      values[k] = value_of(mean + step * points[k]);
      if (values[k] > best_value) best_value = values[k], best = mean + step * points[k];
    }
    used += population;
    std::vector<int> order(population);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return values[a] > values[b]; });
    Vector move = Vector::Zero(d);
    for (int k = 0; k < parents; ++k) move += weights[k] * points[order[k]];
    mean += step * move;
    const Vector whitened =
        eigen.eigenvectors() * (eigen.eigenvectors().transpose() * move).cwiseQuotient(scales);
    step_path = (1 - c_step) * step_path + std::sqrt(c_step * (2 - c_step) * mass) * whitened;
    path = (1 - c_path) * path + std::sqrt(c_path * (2 - c_path) * mass) * move;
    covariance = (1 - c_one - c_rank) * covariance + c_one * path * path.transpose();
    for (int k = 0; k < parents; ++k) {
      covariance += c_rank * weights[k] * points[order[k]] * points[order[k]].transpose();
    }
    step *= std::exp(c_step / damping * (step_path.norm() / expected_norm - 1));
  }
  if (value_of(mean) >= best_value) best = mean;
  return {best.data(), best.data() + d};
}

}  // namespace agora::auctions
