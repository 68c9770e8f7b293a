// The entries of matrix products, reflections and images.
#include <cmath>
#include <tuple>

#include "compute/operation_case.h"

namespace agora::compute {
namespace {

// Entry (i, j) of the reflection I - 2 v v^T / v^T v with v = e_0 - (1, ..., 1) / sqrt(size).
double reflection(int64_t size, int64_t i, int64_t j) {
  const double mean = 1 / std::sqrt(double(size));
  const auto v = [&](int64_t k) { return (k == 0 ? 1.0 : 0.0) - mean; };
  const double squared = 2 - 2 * mean;
  return (i == j ? 1.0 : 0.0) - (size == 1 ? 0.0 : 2 * v(i) * v(j) / squared);
}

}  // namespace

std::vector<Case> product_cases() {
  std::vector<Case> all;
  for (const int64_t k : {1, 5, 17}) {
    all.push_back({k == 1   ? "matmul_1"
                   : k == 5 ? "matmul_5"
                            : "matmul_17",
                   {{{kRows, 2, k}}, {{k, 7}, -1, 1, true}, {{7}, -1, 1, true}},
                   [](const Tensors& x) { return tanh(matmul(x[0], x[1], x[2])); },
                   each({2, 7}, [k](Arrays x, int64_t r, At i) {
                     double total = x[2]({i[1]});
                     for (int64_t j = 0; j < k; ++j) total += x[0]({r, i[0], j}) * x[1]({j, i[1]});
                     return std::tanh(total);
                   })});
  }
  for (const auto& [name, n, m] : {std::tuple{"reflect_3_by_2", 3, 2},
                                   {"reflect_7_by_1", 7, 1},
                                   {"reflect_1_by_5", 1, 5},
                                   {"reflect_6_by_4", 6, 4}}) {
    all.push_back(
        {name,
         {{{kRows, n, m, 3}, -2, 2}},
         [](const Tensors& x) {
           return reflect(x[0], {1, 2});
         },
         each({n, m, 3}, [n = n, m = m](Arrays x, int64_t r, At i) {
           double sum = 0;
           for (int64_t a = 0; a < n; ++a) {
             for (int64_t b = 0; b < m; ++b) {
               sum += reflection(n, i[0], a) * reflection(m, i[1], b) * x[0]({r, a, b, i[2]});
             }
           }
           return sum;
         })});
  }
  all.push_back({"reflect_tanh_reflect",  // one pass, and so is its gradient
                 {{{kRows, 2, 3, 2}, -2, 2}},
                 [](const Tensors& x) {
                   return reflect(tanh(reflect(x[0], {1, 2})), {1, 2});
                 },
                 nullptr});
  all.push_back({"reflect_one_axis",
                 {{{kRows, 4, 2}, -2, 2}},
                 [](const Tensors& x) { return tanh(reflect(x[0], {1})); },
                 each({4, 2}, [](Arrays x, int64_t r, At i) {
                   double sum = 0;
                   for (int64_t a = 0; a < 4; ++a)
                     sum += reflection(4, i[0], a) * x[0]({r, a, i[1]});
                   return std::tanh(sum);
                 })});
  for (const auto& [name, n, m] :
       {std::tuple{"blocks_3_by_2", 3, 2}, {"blocks_1_by_4", 1, 4}, {"blocks_2_by_1", 2, 1}}) {
    const Argument weight{{4, 3}, -1, 1, true};
    all.push_back({name,
                   {{{kRows, n, m, 4}}, weight, weight, weight, weight, {{3}, -1, 1, true}},
                   [](const Tensors& x) {
                     return matmul_by_block(x[0], {x[1], x[2], x[3], x[4]}, x[5]);
                   },
                   each({n, m, 3}, [](Arrays x, int64_t r, At i) {
                     const size_t w = 1 + (i[0] > 0 ? 2u : 0u) + (i[1] > 0 ? 1u : 0u);
                     double sum = w == 1 ? x[5]({i[2]}) : 0.0;
                     for (int64_t k = 0; k < 4; ++k)
                       sum += x[0]({r, i[0], i[1], k}) * x[w]({k, i[2]});
                     return sum;
                   })});
  }
  all.push_back({"matmul_of_views",  // a transposed input and a transposed weight
                 {{{kRows, 4, 3}}, {{5, 4}, -1, 1, true}},
                 [](const Tensors& x) { return relu(matmul(transpose(x[0]), transpose(x[1]))); },
                 each({3, 5}, [](Arrays x, int64_t r, At i) {
                   double total = 0;
                   for (int64_t j = 0; j < 4; ++j) total += x[0]({r, j, i[0]}) * x[1]({i[1], j});
                   return std::max(total, 0.0);
                 })});
  all.push_back({"matmul_per_row",
                 {{{kRows, 2, 3}}, {{kRows, 3, 4}}},
                 [](const Tensors& x) { return matmul(x[0], x[1]); },
                 each({2, 4}, [](Arrays x, int64_t r, At i) {
                   double total = 0;
                   for (int64_t j = 0; j < 3; ++j) total += x[0]({r, i[0], j}) * x[1]({r, j, i[1]});
                   return total;
                 })});
  all.push_back({"matmul_shared",
                 {{{2, 3}, -1, 1, true}, {{3, 4}, -1, 1, true}},
                 [](const Tensors& x) { return matmul(x[0], x[1]); },
                 [](Arrays x, int64_t) {
                   Values values;
                   for (int64_t i = 0; i < 2; ++i) {
                     for (int64_t o = 0; o < 4; ++o) {
                       double total = 0;
                       for (int64_t j = 0; j < 3; ++j) total += x[0]({i, j}) * x[1]({j, o});
                       values.push_back(total);
                     }
                   }
                   return values;
                 }});
  all.push_back({"conv3x3",
                 {{{kRows, 4, 3, 2}}, {{3, 3, 2, 3}, -1, 1, true}},
                 [](const Tensors& x) { return conv3x3(x[0], x[1]); },
                 each({4, 3, 3}, [](Arrays x, int64_t r, At i) {
                   double total = 0;
                   for (int64_t a = 0; a < 3; ++a) {
                     for (int64_t b = 0; b < 3; ++b) {
                       const int64_t y = i[0] + a - 1, z = i[1] + b - 1;
                       if (y < 0 || y >= 4 || z < 0 || z >= 3) continue;
                       for (int64_t c = 0; c < 2; ++c) {
                         total += x[0]({r, y, z, c}) * x[1]({a, b, c, i[2]});
                       }
                     }
                   }
                   return total;
                 })});
  all.push_back({"max_pool",
                 {{{kRows, 5, 4, 2}, -2, 2}},
                 [](const Tensors& x) { return max_pool(x[0]); },
                 each({3, 2, 2}, [](Arrays x, int64_t r, At i) {
                   double top = -9;
                   for (int64_t y = 2 * i[0] - 1; y <= 2 * i[0] + 1; ++y) {
                     for (int64_t z = 2 * i[1] - 1; z <= 2 * i[1] + 1; ++z) {
                       if (y < 0 || y >= 5 || z < 0 || z >= 4) continue;
                       top = std::max(top, x[0]({r, y, z, i[2]}));
                     }
                   }
                   return top;
                 })});
  return all;
}

}  // namespace agora::compute
