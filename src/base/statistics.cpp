#include "base/statistics.h"

#include <array>
#include <cmath>

namespace agora {

double student_t975(size_t degrees_of_freedom) {
  static constexpr std::array<double, 31> kTable{
      0,       12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462,
      2.30600, 2.26216, 2.22814, 2.20099, 2.17881, 2.16037, 2.14479, 2.13145,
      2.11991, 2.10982, 2.10092, 2.09302, 2.08596, 2.07961, 2.07387, 2.06866,
      2.06390, 2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227};
  if (degrees_of_freedom < kTable.size()) return kTable[degrees_of_freedom];
  // Cornish-Fisher expansion about the normal quantile; off by less than 1e-5 beyond 30.
  const double z = 1.959963984540054;
  const double n = static_cast<double>(degrees_of_freedom);
  return z + (z * z * z + z) / (4 * n) +
         (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * n * n);
}

Summary summarise(std::span<const double> values) {
  Summary summary{.count = values.size()};
  if (values.empty()) return summary;
  const double n = static_cast<double>(values.size());
  for (double value : values) summary.mean += value / n;
  if (values.size() == 1) return summary;
  double squares = 0;
  for (double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.standard_deviation = std::sqrt(squares / (n - 1));
  summary.standard_error = summary.standard_deviation / std::sqrt(n);
  summary.half_width95 = student_t975(values.size() - 1) * summary.standard_error;
  return summary;
}

}  // namespace agora
