#pragma once
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "compute/operations.h"

// An entry of operations_test.cpp.
namespace agora::compute {

using Values = std::vector<double>;

// A row-major array with its shape, rows included: what expected values are computed on.
struct Array {
  std::vector<int64_t> shape;
  Values values;
  double& operator()(std::initializer_list<int64_t> index) {
    int64_t at = 0;
    size_t axis = 0;
    for (const int64_t i : index) at = at * shape[axis++] + i;
    return values[static_cast<size_t>(at)];
  }
};

struct Argument {
  Shape shape;
  double low = -1, high = 1;
  bool parameter = false;  // shared and trainable; otherwise an input
  int64_t classes = 0;     // > 0: whole numbers below it, no gradient
};

struct Case {
  std::string name;
  std::vector<Argument> arguments;
  std::function<Tensor(const Tensors&)> build;
  // Expected values from the arguments (the first axis of row-local ones is the number of rows);
  // empty where the test is elsewhere.
  std::function<Values(std::vector<Array>&, int64_t rows)> expected;
  bool differentiable = true;
};

inline void PrintTo(const Case& it, std::ostream* out) { *out << it.name; }

// The expected values of one element each: element(arguments, row, index).
template <typename Element>
std::function<Values(std::vector<Array>&, int64_t)> each(std::vector<int64_t> sizes,
                                                         Element element) {
  return [sizes, element](std::vector<Array>& x, int64_t rows) {
    Values values;
    std::vector<int64_t> at(3, 0);
    std::vector<int64_t> limits = sizes;
    limits.resize(3, 1);
    for (int64_t r = 0; r < rows; ++r) {
      for (at[0] = 0; at[0] < limits[0]; ++at[0]) {
        for (at[1] = 0; at[1] < limits[1]; ++at[1]) {
          for (at[2] = 0; at[2] < limits[2]; ++at[2]) values.push_back(element(x, r, at));
        }
      }
    }
    return values;
  };
}

using At = const std::vector<int64_t>&;
using Arrays = std::vector<Array>&;

std::vector<Case> product_cases();  // matrix products, reflections and images

}  // namespace agora::compute
