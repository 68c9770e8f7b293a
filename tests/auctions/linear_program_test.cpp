// Whose mistake it is that a linear program has no solution.
#include "auctions/exact/linear_program.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/features.h"

namespace agora::auctions {
namespace {

// A number between 0 and 1 of which `coefficient` times is at least twice as much.
void solve(double coefficient) {
  LinearProgram program;
  const int column = program.add_column(1.0, 0.0, 1.0);
  program.add_row({column}, {coefficient}, 2 * coefficient, LinearProgram::kUnbounded);
  program.solve();
}

TEST(LinearProgram, WithoutASolutionIsOursUnlessNumbersAreTooLarge) {
  if (!AGORA_HAS_CLP) GTEST_SKIP() << "Clp is missing";
  EXPECT_THROW(solve(1e15), UserError);
  try {
    solve(1.0);
    FAIL() << "solved";
  } catch (const UserError&) {
    FAIL() << "told as the user's mistake";
  } catch (const Error&) {
  }
}

}  // namespace
}  // namespace agora::auctions
