#include "base/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace agora {
namespace {

// Quantiles from printed tables of Student's t.
TEST(Statistics, StudentQuantiles) {
  EXPECT_NEAR(student_t975(1), 12.7062, 1e-4);
  EXPECT_NEAR(student_t975(9), 2.2622, 1e-4);
  EXPECT_NEAR(student_t975(30), 2.0423, 1e-4);
  EXPECT_NEAR(student_t975(31), 2.0395, 1e-4);
  EXPECT_NEAR(student_t975(60), 2.0003, 1e-4);
  EXPECT_NEAR(student_t975(120), 1.9799, 1e-4);
  EXPECT_NEAR(student_t975(100000), 1.9600, 1e-4);
}

TEST(Statistics, Summary) {
  const std::vector<double> values{1, 2, 3, 4};
  const Summary summary = summarise(values);
  EXPECT_EQ(summary.count, 4u);
  EXPECT_DOUBLE_EQ(summary.mean, 2.5);
  EXPECT_NEAR(summary.standard_deviation, 1.2909944, 1e-7);
  EXPECT_NEAR(summary.half_width95, 3.18245 * 1.2909944 / 2, 1e-5);
}

TEST(Statistics, OneValueHasNoInterval) {
  const Summary summary = summarise(std::vector<double>{7});
  EXPECT_EQ(summary.mean, 7);
  EXPECT_EQ(summary.half_width95, 0);
}

}  // namespace
}  // namespace agora
