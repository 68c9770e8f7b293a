#pragma once
#include <cstddef>
#include <span>

namespace agora {

struct Summary {
  size_t count = 0;
  double mean = 0;
  double standard_deviation = 0;  // with n - 1
  double standard_error = 0;
  double half_width95 = 0;  // of Student's 95 % interval of the mean; 0 for one value
};
Summary summarise(std::span<const double> values);

// The 97.5 % quantile of Student's t distribution.
double student_t975(size_t degrees_of_freedom);

}  // namespace agora
