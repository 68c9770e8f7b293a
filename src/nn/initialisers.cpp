#include "nn/initialisers.h"

#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"

namespace agora::nn {
namespace {

struct Fans {
  double in, out;
};

Fans fans_of(const compute::Shape& shape) {
  CHECK(shape.size() >= 2, "a weight needs inputs and outputs, found {}",
        compute::to_string(shape));
  double taps = 1;
  for (size_t axis = 0; axis + 2 < shape.size(); ++axis) taps *= static_cast<double>(shape[axis]);
  return {taps * static_cast<double>(shape[shape.size() - 2]),
          taps * static_cast<double>(shape.back())};
}

}  // namespace

Initializer uniform(double low, double high) {
  return [=](std::span<double> values, const compute::Shape&, Rng& rng) {
    for (double& value : values) value = rng.uniform(low, high);
  };
}

Initializer xavier_uniform(double gain) {
  return [=](std::span<double> values, const compute::Shape& shape, Rng& rng) {
    const auto [in, out] = fans_of(shape);
    const double bound = gain * std::sqrt(6.0 / (in + out));
    for (double& value : values) value = rng.uniform(-bound, bound);
  };
}

Initializer glorot_uniform() { return xavier_uniform(1.0); }

Initializer he_normal() {
  return [](std::span<double> values, const compute::Shape& shape, Rng& rng) {
    const double deviation = std::sqrt(2.0 / fans_of(shape).in);
    for (double& value : values) value = deviation * rng.normal();
  };
}

// Gram-Schmidt (twice, for accuracy) on normal vectors, as many as the shorter side has.
Initializer orthogonal(double gain) {
  return [=](std::span<double> values, const compute::Shape& shape, Rng& rng) {
    const auto columns = static_cast<size_t>(shape.back());
    const size_t rows = values.size() / columns;
    const size_t count = std::min(rows, columns), length = std::max(rows, columns);
    std::vector<std::vector<double>> basis(count, std::vector<double>(length));
    for (size_t k = 0; k < count; ++k) {
      std::vector<double>& vector = basis[k];
      for (double& value : vector) value = rng.normal();
      for (int pass = 0; pass < 2; ++pass) {
        for (size_t j = 0; j < k; ++j) {
          double product = 0;
          for (size_t i = 0; i < length; ++i) product += vector[i] * basis[j][i];
          for (size_t i = 0; i < length; ++i) vector[i] -= product * basis[j][i];
        }
      }
      double square = 0;
      for (double value : vector) square += value * value;
      for (double& value : vector) value /= std::sqrt(square);
    }
    for (size_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < columns; ++column) {
        values[row * columns + column] =
            gain * (rows < columns ? basis[row][column] : basis[column][row]);
      }
    }
  };
}

}  // namespace agora::nn
