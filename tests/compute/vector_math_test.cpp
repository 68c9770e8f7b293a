#include "compute/cpu/kernels/vector_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace agora::compute::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

double true_exp(double x) { return std::exp(x); }
double true_log(double x) { return std::log(x); }
double true_tanh(double x) { return std::tanh(x); }
double true_sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
double true_softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }

// Distance in units of the last place of the float nearest to `expected`.
double ulps(float got, double expected) {
  const float nearest = static_cast<float>(expected);
  if (std::isnan(expected)) return std::isnan(got) ? 0 : kInfinity;
  if (std::isinf(nearest) || std::isinf(got)) {
    // Just below overflow both neighbours are acceptable.
    return got == nearest || (std::fabs(expected) > 3.402823e38 && std::fabs(got) > 3.402823e38)
               ? 0
               : kInfinity;
  }
  const float magnitude = std::fabs(nearest);
  const double unit =
      std::fmax(static_cast<double>(std::nextafter(magnitude, kInfinity)) - magnitude,
                std::numeric_limits<float>::denorm_min());
  return std::fabs(got - expected) / (std::isinf(unit) ? 0x1p104 : unit);
}

struct Case {
  const char* name;
  Vec<float> (*fast)(Vec<float>);
  double (*truth)(double);
};

class VectorMath : public ::testing::TestWithParam<Case> {};

TEST_P(VectorMath, WithinTwoUlpOverAllFloats) {
  constexpr uint64_t kStride = (1u << 9) - 1;  // odd, so that low bits vary too
  constexpr int kBlock = 1024;
  std::vector<float> in(kBlock), out(kBlock);
  double worst = 0;
  float worst_at = 0;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32);) {
    for (float& x : in) {
      x = std::bit_cast<float>(static_cast<uint32_t>(bits));
      bits += kStride;
    }
    map(kBlock, out.data(), GetParam().fast, in.data());
    for (int i = 0; i < kBlock; ++i) {
      const double error = ulps(out[i], GetParam().truth(in[i]));
      if (error > worst) {
        worst = error;
        worst_at = in[i];
      }
    }
  }
  RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_LE(worst, 2.0) << GetParam().name << " at " << worst_at;
}

TEST_P(VectorMath, DenseWhereItMatters) {
  std::vector<float> in(1 << 20), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = -12.0f + 24.0f * i / in.size();
  map(static_cast<int64_t>(in.size()), out.data(), GetParam().fast, in.data());
  double worst = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    worst = std::fmax(worst, ulps(out[i], GetParam().truth(in[i])));
  }
  EXPECT_LE(worst, 2.0) << GetParam().name;
}

TEST_P(VectorMath, EdgesAgreeWithTheLibrary) {
  for (float x : {0.0f, -0.0f, 1.0f, -1.0f, kInfinity, -kInfinity, kNan, 1e-45f, -1e-45f, 1e-38f,
                  3.4e38f, -3.4e38f, 88.72283f, 88.72284f, -87.4f, -103.9f, -104.0f, 9.0f, -9.0f}) {
    float got;
    map(1, &got, GetParam().fast, &x);
    EXPECT_LE(ulps(got, GetParam().truth(x)), 2.0) << GetParam().name << "(" << x << ") = " << got;
  }
}

TEST_P(VectorMath, AValueDoesNotDependOnItsPosition) {
  const float x = 0.73f;
  float alone;
  map(1, &alone, GetParam().fast, &x);
  for (int count = 1; count < 40; ++count) {
    std::vector<float> in(count, -3.0f), out(count + 1, 7.0f);
    for (int place = 0; place < count; ++place) {
      in[place] = x;
      map(count, out.data(), GetParam().fast, in.data());
      EXPECT_EQ(out[place], alone) << count << " " << place;
      EXPECT_EQ(out[count], 7.0f) << "wrote past the end";
      in[place] = -3.0f;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, VectorMath,
                         ::testing::Values(Case{"exp", exp, true_exp}, Case{"log", log, true_log},
                                           Case{"tanh", tanh, true_tanh},
                                           Case{"sigmoid", sigmoid, true_sigmoid},
                                           Case{"softplus", softplus, true_softplus}),
                         [](const auto& test) { return test.param.name; });

TEST(VectorMathTanh, StaysInsideOneAndKeepsTheSignOfZero) {
  for (float x = 7.0f; x < 12.0f; x += 1e-4f) {
    float got;
    map(
        1, &got, [](Vec<float> v) { return tanh(v); }, &x);
    ASSERT_LE(got, 1.0f) << x;
  }
  const float zero = -0.0f;
  float got;
  map(
      1, &got, [](Vec<float> v) { return tanh(v); }, &zero);
  EXPECT_TRUE(std::signbit(got));
}

TEST(VectorMathDouble, MatchesTheLibrary) {
  for (int count : {1, 3, 4, 5, 8, 9}) {
    std::vector<double> in(count), out(count);
    for (int i = 0; i < count; ++i) in[i] = 0.3 + i;
    map(
        count, out.data(), [](Vec<double> v) { return tanh(v); }, in.data());
    for (int i = 0; i < count; ++i) EXPECT_EQ(out[i], std::tanh(in[i]));
    map(
        count, out.data(), [](Vec<double> v) { return softplus(v); }, in.data());
    for (int i = 0; i < count; ++i) EXPECT_DOUBLE_EQ(out[i], std::log1p(std::exp(in[i])));
  }
}

}  // namespace
}  // namespace agora::compute::cpu
