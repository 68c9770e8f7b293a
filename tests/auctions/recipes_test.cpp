// The published recipes, number by number, as printed; nothing here is taken from the code.
#include "auctions/training/recipes.h"

#include <agora/auction_training.h>
#include <gtest/gtest.h>

#include "auctions/setting.h"
#include "trained.h"

namespace agora::auctions {
namespace {

const char* const kDensities = "1x2 power(5) power(6)";

// c of each setting; the multipliers start at 5, the penalty at 1, but in 5x10.
TEST(PublishedRecipes, RegretNetIsThatOfItsAuthors) {
  struct Line {
    const char* setting;
    int hidden;
    double multiplier, penalty, step;
    int64_t penalty_every;
  };
  for (const Line& line : {Line{"1x2 uniform(0,1)", 2, 5, 1, 50, 10'000},
                           {"1x10 uniform(0,1)", 2, 5, 1, 20, 10'000},
                           {"2x2 uniform(0,1)", 2, 5, 1, 5, 10'000},
                           {"1x2 uniform(4,16) uniform(4,7)", 2, 5, 1, 5, 10'000},
                           {"3x10 uniform(0,1)", 5, 5, 1, 1, 10'000},
                           {"5x10 uniform(0,1)", 5, 1, 0.25, 0.25, 100'000}}) {
    const Recipe found = recipe("regretnet", setting(line.setting), "thesis");
    EXPECT_EQ(found.hidden, line.hidden) << line.setting;
    EXPECT_EQ(found.multiplier, line.multiplier) << line.setting;
    EXPECT_EQ(found.penalty, line.penalty) << line.setting;
    EXPECT_EQ(found.penalty_step, line.step) << line.setting;
    EXPECT_EQ(found.penalty_every, line.penalty_every) << line.setting;
    EXPECT_EQ(found.width, 100);
    EXPECT_EQ(found.samples, 640'000);
    EXPECT_EQ(found.batch, 128);
    EXPECT_EQ(found.iterations, 400'000);
    EXPECT_EQ(found.rate, 1e-3);
    EXPECT_EQ(found.final_rate, 1e-3);
    EXPECT_EQ(found.weight_decay, 0);
    EXPECT_EQ(found.averaging, 0);
    EXPECT_EQ(found.misreport_steps, 25);
    EXPECT_EQ(found.misreport_rate, 0.1);
    EXPECT_EQ(found.misreport_final_rate, 0.1);
    EXPECT_FALSE(found.best_misreport);
    EXPECT_EQ(found.candidates, 0);
    EXPECT_EQ(found.multiplier_every, 100);
  }
}

// 80 epochs of 50,000 profiles; the penalty rises by 1 every two epochs of 100 batches.
TEST(PublishedRecipes, EquivariantNetIsThatOfTheThesis) {
  for (const char* market : {"1x2 uniform(0,1)", kDensities, "2x2 uniform(0,1)"}) {
    const Recipe found = recipe("equivariantnet", setting(market), "thesis");
    EXPECT_EQ(found.hidden, 3);
    EXPECT_EQ(found.width, 25);
    EXPECT_EQ(found.samples, 50'000);
    EXPECT_EQ(found.batch, 500);
    EXPECT_EQ(found.iterations, 80 * 50'000 / 500);
    EXPECT_EQ(found.rate, 1e-3);
    EXPECT_EQ(found.final_rate, 1e-3);
    EXPECT_EQ(found.averaging, 0);
    EXPECT_EQ(found.misreport_steps, 25);
    EXPECT_EQ(found.misreport_rate, 0.001);
    EXPECT_EQ(found.misreport_final_rate, 0.001);
    EXPECT_EQ(found.multiplier, 5);
    EXPECT_EQ(found.multiplier_every, 100);
    EXPECT_EQ(found.penalty, 1);
    EXPECT_EQ(found.penalty_step, 1);
    EXPECT_EQ(found.penalty_every, 2 * 50'000 / 500);
  }
}

TEST(PublishedRecipes, AlgnetIsThatOfTheThesis) {
  struct Line {
    const char* setting;
    int hidden, width;
    double rate;
  };
  for (const Line& line : {Line{"1x2 uniform(0,1)", 3, 100, 1e-3},
                           {kDensities, 3, 100, 1e-3},
                           {"2x2 uniform(0,1)", 4, 200, 5e-4},
                           {"3x10 uniform(0,1)", 6, 100, 1e-3},
                           {"5x10 uniform(0,1)", 7, 200, 1e-3}}) {
    const Recipe found = recipe("algnet", setting(line.setting), "thesis");
    EXPECT_EQ(found.hidden, line.hidden) << line.setting;
    EXPECT_EQ(found.width, line.width) << line.setting;
    EXPECT_EQ(found.rate, line.rate) << line.setting;
    EXPECT_EQ(found.final_rate, line.rate) << line.setting;
    EXPECT_EQ(found.misreporter_rate, line.rate) << line.setting;
    EXPECT_EQ(found.iterations, 160'000);
    EXPECT_EQ(found.batch, 500);
    EXPECT_EQ(found.samples, 0);
    EXPECT_EQ(found.weight_decay, 1e-2);
    EXPECT_EQ(found.averaging, 0);
    EXPECT_EQ(found.misreport_steps, 100);
    EXPECT_EQ(found.refinements, 0);
    EXPECT_EQ(found.candidates, 0);
    EXPECT_EQ(found.regret_floor, 1e-8);
    EXPECT_EQ(found.regret_weight, 1);
    EXPECT_EQ(found.restart_every, 800);
    EXPECT_EQ(found.restart_until, 40'000);
  }
}

// Money in cents is the same market: a regret a hundred times larger asks for a hundredth of the
// penalty, and nothing else changes.
TEST(ShippedRecipes, DoNotDependOnTheUnitOfMoney) {
  for (const std::string& mechanism : trained()) {
    for (const char* size : {"1x2", "2x2"}) {
      const auto in = [&](const char* law) {
        return recipe(mechanism, setting(std::string(size) + law));
      };
      const Recipe dollars = in(" uniform(0,1)"), cents = in(" uniform(0,100)");
      EXPECT_EQ(dollars.iterations, cents.iterations);
      EXPECT_EQ(dollars.penalty_every, cents.penalty_every);
      EXPECT_EQ(dollars.multiplier, cents.multiplier);
      MakeTrainer* const trainer = training_of(mechanism_kind(mechanism)).trainer;
      if (trainer == game_trainer) {
        EXPECT_NEAR(cents.regret_floor, 100 * dollars.regret_floor, 1e-12);
      } else if (trainer == lagrangian_trainer) {
        EXPECT_NEAR(cents.penalty_step, dollars.penalty_step / 100, 1e-12) << mechanism;
      }
    }
  }
}

// Regret counts little at first where there is time to come back from what that gives up.
TEST(ShippedRecipes, CountAllRegretInAShortTraining) {
  const Recipe shipped = recipe("algnet", setting("2x2"));
  EXPECT_EQ(shipped.regret_weight, 0.1);
  EXPECT_EQ(with_iterations(shipped, 600).regret_weight, 1);
  EXPECT_EQ(with_iterations(shipped, 12'000).regret_weight, 0.1);
}

}  // namespace
}  // namespace agora::auctions
