// Single steps of the trainings, computed again from what mechanism()->run() gives.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <numeric>
#include <set>

#include "auctions/mechanism.h"
#include "auctions/setting.h"
#include "base/rng.h"
#include "base/signals.h"
#include "support/scratch.h"
#include "trained.h"

namespace agora::auctions {
namespace {

constexpr int kBidders = 2, kItems = 2, kBatch = 40;
constexpr uint64_t kSeed = 5;

// Fresh profiles, and a search for lies that stays where it starts.
Recipe still(const Setting& market, const std::string& mechanism) {
  Recipe how = recipe(mechanism, market);
  how.hidden = 2;
  how.width = 8;
  how.batch = kBatch;
  how.samples = 0;
  how.iterations = 100;
  how.averaging = 0;
  how.candidates = 0;
  how.misreport_steps = 2;
  how.misreport_rate = how.misreport_final_rate = 1e-30;
  how.multiplier = 7;
  how.penalty = 40;
  how.penalty_step = 100;
  how.penalty_every = 2;
  how.multiplier_every = 1;
  return how;
}

using Weights = std::map<std::string, Parameters::Tensor>;

Weights weights_of(const Trainer& trainer) { return trainer.mechanism()->parameters().tensors; }

struct ByHand {
  double revenue = 0;
  std::vector<double> regret = std::vector<double>(kBidders, 0.0);
};

// Truths and lies of a batch, (kBatch, bidders, items) each.
ByHand by_hand(const Mechanism& mechanism, const std::vector<double>& values,
               const std::vector<double>& lies) {
  ByHand result;
  for (int k = 0; k < kBatch; ++k) {
    const double* truth = values.data() + k * kBidders * kItems;
    const auto utility = [&](const std::vector<double>& bids, int bidder) {
      const Outcome outcome = run(mechanism, bids);
      double sum = -outcome.payments[bidder];
      for (int j = 0; j < kItems; ++j) {
        sum += truth[bidder * kItems + j] * outcome.allocation[bidder * kItems + j];
      }
      return sum;
    };
    const std::vector<double> honest(truth, truth + kBidders * kItems);
    for (const double payment : run(mechanism, honest).payments) result.revenue += payment / kBatch;
    for (int i = 0; i < kBidders; ++i) {
      std::vector<double> bids = honest;
      for (int j = 0; j < kItems; ++j) {
        bids[i * kItems + j] = lies[(k * kBidders + i) * kItems + j];
      }
      const double gain = utility(bids, i) - utility(honest, i);
      result.regret[i] += std::max(0.0, gain) / kBatch;
    }
  }
  return result;
}

// Of fresh profiles.
ByHand by_hand(const Mechanism& mechanism, const Setting& market, int64_t iteration) {
  std::vector<double> values(kBatch * kBidders * kItems), lies(values.size());
  market.sample(kSeed, kTrainingStream, iteration * kBatch, kBatch, values.data());
  market.sample(kSeed, kMisreportStream, iteration * kBatch, kBatch, lies.data());
  return by_hand(mechanism, values, lies);
}

class LagrangianSteps : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, LagrangianSteps, ::testing::ValuesIn(trained(lagrangian_trainer)));

// -revenue + sum_i multiplier_i regret_i + penalty / 2 sum_i regret_i^2, and what the multipliers
// and the penalty become.
TEST_P(LagrangianSteps, AreThoseOfTheAugmentedLagrangian) {
  const Setting market = setting("2x2 uniform(0,1) uniform(0,3)");
  const Recipe how = still(market, GetParam());
  const auto trainer = resumable_trainer(GetParam(), market, how, kSeed);
  std::vector<double> multipliers(kBidders, how.multiplier);
  double penalty = how.penalty;
  for (int64_t step = 0; step < 3; ++step) {
    const ByHand hand = by_hand(*trainer->mechanism(), market, step);
    trainer->advance(1);
    const TrainingNumbers seen = trainer->numbers();
    double loss = -hand.revenue;
    for (int i = 0; i < kBidders; ++i) {
      ASSERT_GT(hand.regret[i], 1e-4);  // there is something to see
      loss += multipliers[i] * hand.regret[i] + penalty / 2 * hand.regret[i] * hand.regret[i];
      multipliers[i] += penalty * hand.regret[i];
    }
    if (step == 1) penalty += how.penalty_step;
    EXPECT_NEAR(seen.revenue, hand.revenue, 1e-5);
    EXPECT_NEAR(seen.regret, (hand.regret[0] + hand.regret[1]) / 2, 1e-5);
    EXPECT_NEAR(seen.loss, loss, 1e-4 * std::abs(loss) + 1e-4) << step;
    for (const StoredTensor& tensor : trainer->state()) {
      if (tensor.name != "numbers.multipliers") continue;
      EXPECT_NEAR(tensor.values<double>()[0], multipliers[0], 1e-3);
      EXPECT_NEAR(tensor.values<double>()[1], multipliers[1], 1e-3);
    }
  }
}

// A fixed sample, in an order of its own in every epoch, and one lie for each of its profiles.
TEST_P(LagrangianSteps, GoThroughTheSampleInANewOrderEveryEpoch) {
  constexpr int64_t kSamples = 50, kSize = kBidders * kItems;
  const Setting market = setting("2x2 uniform(0,1) uniform(0,3)");
  Recipe how = still(market, GetParam());
  how.samples = kSamples;
  std::vector<double> sample(kSamples * kSize), remembered(sample.size());
  market.sample(kSeed, kTrainingStream, 0, kSamples, sample.data());
  market.sample(kSeed, kMisreportStream, 0, kSamples, remembered.data());
  std::vector<int64_t> rows;
  for (uint32_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> order(kSamples);
    std::iota(order.begin(), order.end(), 0);
    Rng(kSeed, kOrderStream, epoch).shuffle(order);
    rows.insert(rows.end(), order.begin(), order.end());
  }
  const auto trainer = resumable_trainer(GetParam(), market, how, kSeed);
  for (int64_t step = 0; step < 3; ++step) {
    std::vector<double> values, lies;
    for (int64_t k = 0; k < kBatch; ++k) {
      const int64_t at = rows[step * kBatch + k] * kSize;
      values.insert(values.end(), sample.begin() + at, sample.begin() + at + kSize);
      lies.insert(lies.end(), remembered.begin() + at, remembered.begin() + at + kSize);
    }
    const ByHand hand = by_hand(*trainer->mechanism(), values, lies);
    trainer->advance(1);
    const TrainingNumbers seen = trainer->numbers();
    EXPECT_NEAR(seen.revenue, hand.revenue, 1e-5) << step;
    EXPECT_NEAR(seen.regret, (hand.regret[0] + hand.regret[1]) / 2, 1e-5) << step;
  }
}

// The lies of the profiles that were seen have moved, the others have not; all stay in the domain.
TEST_P(LagrangianSteps, RememberTheLiesTheyFound) {
  constexpr int64_t kSamples = 50, kSize = kBidders * kItems;
  const Setting market = setting("2x2 uniform(0,1) uniform(0,3)");
  Recipe how = still(market, GetParam());
  how.samples = kSamples;
  how.misreport_rate = how.misreport_final_rate = 2;  // beyond the domain in one step
  std::vector<float> first(kSamples * kSize);
  market.sample(kSeed, kMisreportStream, 0, kSamples, first.data());
  const auto trainer = resumable_trainer(GetParam(), market, how, kSeed);
  trainer->advance(1);
  TensorFile file;
  file.tensors = trainer->state();
  const std::vector<float> now = file.at("buffer.misreports").values<float>();
  ASSERT_EQ(now.size(), first.size());
  int moved = 0;
  for (int64_t row = 0; row < kSamples; ++row) {
    moved += !std::equal(first.begin() + row * kSize, first.begin() + (row + 1) * kSize,
                         now.begin() + row * kSize);
    for (int64_t k = 0; k < kSize; ++k) {
      EXPECT_GE(now[row * kSize + k], 0);
      EXPECT_LE(now[row * kSize + k], k % kItems == 0 ? 1 : 3);
    }
  }
  EXPECT_EQ(moved, kBatch);
}

// Adam's first step moves every weight by the rate, whatever its gradient is; and two trainings
// that differ only in the end of their schedule move in proportion to their rates.
TEST_P(LagrangianSteps, FollowTheCosineOfTheRate) {
  const Setting market = setting("2x2");
  Recipe constant = still(market, GetParam()), falling = constant;
  constant.iterations = falling.iterations = 2;
  constant.rate = constant.final_rate = falling.rate = 4e-3;
  falling.final_rate = 1e-3;
  std::vector<std::vector<Weights>> seen;
  for (const Recipe& how : {constant, falling}) {
    const auto run = trainer(GetParam(), market, how, kSeed);
    seen.emplace_back();
    for (int step = 0; step < 3; ++step) {
      seen.back().push_back(weights_of(*run));
      if (step < 2) run->advance(1);
    }
  }
  double moved = 0, compared = 0;
  for (const auto& [name, first] : seen[0][0]) {
    for (size_t k = 0; k < first.values.size(); ++k) {
      const auto at = [&](int which, int step) { return seen[which][step].at(name).values[k]; };
      moved = std::max(moved, std::abs(at(0, 1) - at(0, 0)));
      const double whole = at(0, 2) - at(0, 1), half = at(1, 2) - at(1, 1);
      if (std::abs(whole) < 1e-3) continue;
      EXPECT_NEAR(half / whole, 2.5 / 4, 1e-2) << name;  // halfway down the cosine
      ++compared;
    }
  }
  EXPECT_NEAR(moved, 4e-3, 4e-6);
  EXPECT_GT(compared, 50);
}

// The average is over the weights that the steps began with.
TEST_P(LagrangianSteps, AverageWithoutTheBiasOfTheStart) {
  const Setting market = setting("2x2");
  Recipe plain = still(market, GetParam()), averaged = plain;
  averaged.averaging = 0.9;
  const auto one = trainer(GetParam(), market, plain, kSeed);
  const auto two = trainer(GetParam(), market, averaged, kSeed);
  const Weights first = weights_of(*one);
  one->advance(1);
  two->advance(2);
  const Weights second = weights_of(*one), mean = weights_of(*two);
  for (const auto& [name, tensor] : mean) {
    if (name.starts_with("scale.")) continue;
    for (size_t k = 0; k < tensor.values.size(); ++k) {
      const double expected =
          (0.9 * first.at(name).values[k] + second.at(name).values[k]) / (0.9 + 1.0);
      EXPECT_NEAR(tensor.values[k], expected, 1e-6) << name;
    }
  }
}

// The misreporter is drawn anew before the iterations 2 and 4, and not from `until` on.
TEST(GameSteps, RestartTheMisreporterInTime) {
  const Setting market = setting("2x2");
  Recipe never = still(market, "algnet");
  never.misreport_steps = 3;
  never.refinements = 0;
  never.misreporter_rate = 1e-3;
  never.restart_every = 0;
  Recipe twice = never, too_late = never;
  twice.restart_every = too_late.restart_every = 2;
  twice.restart_until = 5;
  too_late.restart_until = 2;
  const auto liars_after = [&](const Recipe& how, int64_t iterations) {
    const auto run = resumable_trainer("algnet", market, how, kSeed);
    run->advance(iterations);
    std::map<std::string, std::vector<double>> result;
    for (const StoredTensor& tensor : run->state()) {
      if (tensor.name.starts_with("misreporter")) result[tensor.name] = tensor.values<double>();
    }
    EXPECT_GT(result.size(), 3u);
    return result;
  };
  EXPECT_EQ(liars_after(twice, 2), liars_after(never, 2));
  EXPECT_NE(liars_after(twice, 3), liars_after(never, 3));
  EXPECT_EQ(liars_after(too_late, 4), liars_after(never, 4));
  twice.restart_until = 3;
  const auto once = liars_after(twice, 5);
  twice.restart_until = 5;
  EXPECT_NE(liars_after(twice, 5), once);
}

// Each time with other weights: with a rate of 0 they are those that were drawn.
TEST(GameSteps, DrawAnotherMisreporterAtEveryRestart) {
  const Setting market = setting("2x2");
  Recipe how = still(market, "algnet");
  how.refinements = 0;
  how.misreporter_rate = 0;
  how.restart_every = 2;
  how.restart_until = 100;
  const auto run = resumable_trainer("algnet", market, how, kSeed);
  std::set<std::vector<double>> drawn;
  for (int restarts = 0; restarts < 3; ++restarts) {
    TensorFile file;
    run->advance(1);
    file.tensors = run->state();
    drawn.insert(file.at("misreporter.0.weight").values<double>());
    run->advance(1);
  }
  EXPECT_EQ(drawn.size(), 3u);
}

// The misreporter's own steps look for what a lie gains: after many of them the same auctioneer has
// more regret than at first.
TEST(GameSteps, TheMisreporterClimbs) {
  const Setting market = setting("2x2");
  Recipe how = still(market, "algnet");
  how.refinements = 0;
  how.misreporter_rate = 1e-2;
  how.rate = how.final_rate = 0;  // the auctioneer stays
  how.weight_decay = 0;
  how.misreport_steps = 20;
  const auto run = resumable_trainer("algnet", market, how, kSeed);
  run->advance(1);
  const double first = run->numbers().regret;
  run->advance(9);
  run->numbers();
  run->advance(1);
  EXPECT_GT(run->numbers().regret, first);
}

// So many steps of the misreporter that a signal comes among them: they are taken back.
TEST(GameSteps, AStopTakesTheMisreportersStepsBack) {
  const Setting market = setting("2x2");
  Recipe how = still(market, "algnet");
  how.misreport_steps = 100'000'000;
  how.misreporter_rate = 1e-3;
  const auto run = resumable_trainer("algnet", market, how, kSeed);
  const std::vector<StoredTensor> before = run->state();
  signal(SIGALRM, [](int) { request_stop(SIGTERM); });
  ualarm(100'000, 0);
  EXPECT_THROW(run->advance(1), Interrupted);
  request_stop(0);
  EXPECT_EQ(run->iteration(), 0);
  const std::vector<StoredTensor> after = run->state();
  for (size_t k = 0; k < before.size(); ++k) {
    EXPECT_EQ(before[k].bytes, after[k].bytes) << before[k].name;
  }
}

// A signal in the middle of an iteration leaves the state as it was before.
TEST(Steps, AStopInsideAnIterationChangesNothing) {
  const Setting market = setting("2x2");
  for (const std::string& name : trained()) {
    Recipe how = still(market, name);
    how.samples = 100;
    const auto run = resumable_trainer(name, market, how, kSeed);
    const auto whole = resumable_trainer(name, market, how, kSeed);
    run->advance(2);
    const std::vector<StoredTensor> before = run->state();
    request_stop(SIGTERM);
    EXPECT_THROW(run->advance(1), Interrupted);
    request_stop(0);
    EXPECT_EQ(run->iteration(), 2);
    const std::vector<StoredTensor> after = run->state();
    for (size_t k = 0; k < before.size(); ++k) {
      EXPECT_EQ(before[k].bytes, after[k].bytes) << before[k].name;
    }
    run->advance(3);
    whole->advance(5);
    const std::vector<StoredTensor> resumed = run->state(), expected = whole->state();
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(resumed[k].bytes, expected[k].bytes) << expected[k].name;
    }
  }
}

TEST(Steps, AStateWithNumbersThatAreNotFiniteIsRefused) {
  const Setting market = setting("2x2");
  const auto run = resumable_trainer("regretnet", market, still(market, "regretnet"), kSeed);
  TensorFile file;
  file.path = "checkpoint-3.safetensors";
  file.tensors = run->state();
  for (StoredTensor& tensor : file.tensors) {
    if (tensor.name != "payment.0.bias") continue;
    tensor = StoredTensor::of<float>(tensor.name, tensor.shape,
                                     std::vector<float>(tensor.values<float>().size(), NAN));
  }
  expect_user_error([&] { run->restore(file); }, {"checkpoint-3.safetensors", "'payment.0.bias'"});
}

}  // namespace
}  // namespace agora::auctions
