// A mechanism that learns is one file: posted prices, trained, saved and resumed by what is there.
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "auctions/audit/audit.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/mechanism_learner.h"
#include "base/run_folder.h"
#include "base/signals.h"
#include "support/scratch.h"

namespace agora::auctions {
namespace {

using compute::Graph;
using compute::Tensor;

constexpr double kSoftness = 0.02;  // of the threshold, in units of the domain

// One bidder buys each item, almost surely, from its price on.
Network record(Graph& graph, const Architecture& architecture) {
  const Tensor x = graph.parameter("price", {architecture.items}, compute::filled(0.2));
  return [=](Tensor bids) {
    const Tensor sold = sigmoid((scaled(architecture, bids) - x) / kSoftness);
    const Tensor paid = sum(sold * minimum(bids, unscaled(architecture, x)), {-1});
    return Decision{sold, paid / (sum(sold * bids, {-1}) + 1e-9)};
  };
}

Recipe shipped(const Setting&) {
  Recipe recipe{.iterations = 800, .batch = 256};
  recipe.rate = 1e-2;
  recipe.final_rate = 1e-4;
  recipe.averaging = 0.98;
  recipe.misreport_steps = 3;
  return recipe;
}

MechanismKind posted_prices() {
  MechanismKind kind =
      network_entry("posted-prices", "a price for every item",
                    {.record = record,
                     .training = std::make_shared<TrainingKind>(TrainingKind{
                         .trainer = lagrangian_trainer, .published = shipped, .best = shipped})});
  kind.refusal = [](const Setting& setting) {
    return setting.bidders() == 1 ? "" : "its prices are for one bidder";
  };
  return kind;
}

const char* const kMarket = "1x2 uniform(0,1) uniform(0,2)";

// U[0,h]: h/2 is the best price and earns h/4. A price that is off by d loses d^2/h; so soft a
// threshold loses (pi^2/12) kSoftness^2 h, 3.3e-4 h.
TEST(NewKind, LearnsTheBestPrices) {
  const MechanismKind kind = posted_prices();
  const Setting market = setting(kMarket);
  const Recipe how = training_of(kind).best(market);
  const auto run = resumable_trainer(kind, market, how, 1);
  EXPECT_LT(evaluate(*run->mechanism(), market, {}).revenue, 0.6);  // .2 and .4: .16 and .32
  run->advance(how.iterations);
  const auto learned = run->mechanism();
  const std::vector<double> price = learned->parameters().tensors.at("price").values;
  EXPECT_NEAR(price[0], 0.5, 0.03);
  EXPECT_NEAR(price[1], 0.5, 0.03);  // of the domain
  const Audit found =
      audit(*learned, market,
            {.profiles = 200'000, .regret_profiles = 50, .symmetry_profiles = 0, .seed = 2});
  EXPECT_NEAR(found.truth.revenue, 0.75,
              3 * (0.03 * 0.03 + 3.3e-4) + 4 * found.truth.revenue_error);
  EXPECT_LE(found.truth.ir_violation, 1e-6);
  // However far v - p is from 0, (1 - sigmoid(x)) x has a most of .2785, in units of the threshold.
  EXPECT_LE(found.strong->max, 3 * 0.279 * kSoftness);
}

TEST(NewKind, IsTheSameAfterSavingAndLoading) {
  const Scratch scratch;
  const MechanismKind kind = posted_prices();
  const Setting market = setting(kMarket);
  const auto run = resumable_trainer(kind, market, training_of(kind).best(market), 1);
  run->advance(5);
  const auto learned = run->mechanism();
  const std::vector<double> bids{0.1, 0.5, 0.21, 0.4, 0.9, 1.9};
  const Outcome expected = auctions::run(*learned, bids);
  for (const char* name : {"m.safetensors", "m.json"}) {
    const std::string file = (scratch / name).string();
    save(*learned, file);
    const auto loaded = make_mechanism(kind, load_parameters(file));
    const Outcome found = auctions::run(*loaded, bids);
    EXPECT_EQ(found.allocation, expected.allocation);
    EXPECT_EQ(found.payments, expected.payments);
  }
}

// One that is stopped and goes on in another process, which a fresh learner stands for.
TEST(NewKind, GoesOnWithTheSameBits) {
  const Scratch scratch;
  const MechanismKind kind = posted_prices();
  const Setting market = setting(kMarket);
  Recipe how = training_of(kind).best(market);
  how.iterations = 40;
  const auto learned = [&](const char* name, bool stop) {
    RunFolder folder = RunFolder::open_or_create(scratch / name, {{"verb", "test"}});
    MechanismLearner learner(kind, market, how, 1);
    learn(learner, {.kept = &folder, .looks = 4, .look = [&](int64_t step) {
                      if (stop && step == 20) request_stop(SIGTERM);
                      return Json(step);
                    }});
    return learner.trainer().mechanism()->parameters().tensors.at("price").values;
  };
  EXPECT_THROW(learned("stopped", true), Interrupted);
  request_stop(0);
  EXPECT_EQ(learned("stopped", false), learned("whole", false));
}

TEST(NewKind, IsRefusedWhereItSaysSo) {
  const MechanismKind kind = posted_prices();
  const Setting market = setting("2x2");
  expect_user_error([&] { resumable_trainer(kind, market, shipped(market), 1); },
                    {"posted-prices cannot take setting", "one bidder"});
}

}  // namespace
}  // namespace agora::auctions
