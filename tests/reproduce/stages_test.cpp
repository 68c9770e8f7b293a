#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "auctions/mechanism.h"
#include "base/signals.h"
#include "reproduce/auction_stages.h"
#include "support/scratch.h"

namespace agora::reproduce {
namespace {

using namespace auctions;

Recipe small_recipe(const std::string& mechanism, const Setting& market) {
  Recipe recipe = with_iterations(auctions::recipe(mechanism, market), 60);
  recipe.batch = 32;
  recipe.samples = mechanism == "algnet" ? 0 : 100;
  return recipe;
}

// Two stages with a training each; a signal comes at look `stop_at` (0: never).
Json run(const std::filesystem::path& path, int stop_at) {
  RunFolder folder = RunFolder::open_or_create(path, {{"verb", "test"}});
  Task task{.scale = Scale::kQuick, .seed = 3, .folder = folder};
  Stages stages(task);
  int looks = 0;
  Json result = Json::object();
  for (const std::string mechanism : {"regretnet", "algnet"}) {
    result[mechanism] = stages.stage(mechanism, [&] {
      const Setting market = setting("1x2");
      const auto look = [&](int64_t iteration, const Mechanism& learned, TrainingNumbers seen) {
        if (++looks == stop_at) request_stop(SIGTERM);
        return Json{{"iteration", iteration},
                    {"train", seen.revenue},
                    {"test", evaluate(learned, market, {.profiles = 100}).revenue}};
      };
      auto trained = train(stages, {mechanism, market, small_recipe(mechanism, market), task.seed},
                           {5, look, {}});
      const Evaluation found = evaluate(*trained.mechanism, market, {.profiles = 100});
      return Json{{"revenue", found.revenue}, {"seen", trained.seen}};
    });
  }
  return result;
}

TEST(Stages, GoOnWithTheSameBitsAfterASignal) {
  const Scratch scratch;
  const Json whole = run(scratch / "whole", 0);
  EXPECT_EQ(whole["regretnet"]["seen"].size(), 5);
  for (const int stop_at : {1, 5, 7}) {
    const auto path = scratch / ("stopped-" + std::to_string(stop_at));
    EXPECT_THROW(run(path, stop_at), Interrupted);
    request_stop(0);
    EXPECT_EQ(dump_json(run(path, 0)), dump_json(whole)) << stop_at;
  }
}

// (sqrt P - sqrt R)^2, where R is the regret of all bidders and a test prints that of one.
TEST(Stages, MeasurePStarByTheRegretOfAllBidders) {
  const Setting market = setting("2x2 uniform(4,5)");
  const auto untrained =
      auctions::trainer("regretnet", market, small_recipe("regretnet", market), 3)->mechanism();
  AuditOptions options{.profiles = 100, .regret_profiles = 10, .symmetry_profiles = 0};
  options.thesis_test = false;
  const Json found = measured(*untrained, market, options);
  const auto revenue = found.at("revenue").get<double>(), regret = found.at("strong").get<double>();
  EXPECT_GT(regret, 1e-3);
  EXPECT_NEAR(found.at("p_star").get<double>(),
              std::pow(std::sqrt(revenue) - std::sqrt(2 * regret), 2), 1e-12);
}

// Counts steps; the signal comes while step `stop_in` is taken.
class Counter : public Resumable {
 public:
  explicit Counter(int64_t stop_in) : stop_in_(stop_in) {}
  int64_t step() const override { return static_cast<int64_t>(steps_.size()); }
  int64_t total() const override { return 10; }
  void advance(int64_t count) override {
    for (int64_t k = 0; k < count; ++k) {
      if (step() + 1 == stop_in_) request_stop(SIGINT);
      throw_if_stopped();
      steps_.push_back(static_cast<double>(step() + 1));
    }
  }
  std::vector<StoredTensor> tensors() const override {
    return {StoredTensor::of<double>("steps", {step()}, steps_)};
  }
  void restore(const Checkpoint& checkpoint) override {
    steps_ = checkpoint.tensors.at("steps").values<double>();
  }
  NamedNumbers numbers() override { return {}; }
  Json all() const { return steps_; }

 private:
  int64_t stop_in_;
  std::vector<double> steps_;
};

// Whoever can be led by the loop has a place in a stage; one that is done is not led again.
TEST(Stages, LeadAnyLearner) {
  const Scratch scratch;
  int computed = 0;
  const auto count = [&](const std::string& stage, int64_t stop_in) {
    RunFolder folder = RunFolder::open_or_create(scratch / "run", {{"verb", "test"}});
    Task task{.scale = Scale::kQuick, .seed = 1, .folder = folder};
    Stages stages(task);
    const auto learn = [&] {
      ++computed;
      Counter counter(stop_in);
      const Json seen =
          stages.learn(counter, {.points = 3, .look = [&](int64_t step) { return Json(step); }});
      return Json{{"steps", counter.all()}, {"seen", seen}};
    };
    return stages.stage(stage, learn);
  };
  const Json expected{{"steps", {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0}},
                      {"seen", {4, 8, 10}}};
  for (const int64_t stop_in : {2, 6, 10}) {
    EXPECT_THROW(count("first", stop_in), Interrupted);
    request_stop(0);
  }
  EXPECT_EQ(count("first", 0), expected);
  EXPECT_THROW(count("second", 3), Interrupted);
  request_stop(0);
  EXPECT_EQ(count("second", 0), expected);
  EXPECT_EQ(count("first", 0), expected);
  EXPECT_EQ(computed, 6);
}

TEST(Stages, CompressSchedulesWithTheIterations) {
  const Recipe published = auctions::recipe("regretnet", setting("5x10"), "thesis");
  const Recipe small = with_iterations(published, published.iterations / 100);
  EXPECT_EQ(small.iterations, published.iterations / 100);
  EXPECT_EQ(small.penalty_every, published.penalty_every / 100);
  // Averages reach back over the same share of the run.
  const Recipe shipped = auctions::recipe("regretnet", setting("1x2"));
  const Recipe tenth = with_iterations(shipped, shipped.iterations / 10);
  EXPECT_NEAR(1 - tenth.averaging, 10 * (1 - shipped.averaging), 1e-12);
}

// Quick scale runs what is shipped, and less of it.
TEST(Stages, ChangeNothingElseAtQuickScale) {
  const Scratch scratch;
  RunFolder folder = RunFolder::open_or_create(scratch / "run", {{"verb", "test"}});
  const Task quick{.scale = Scale::kQuick, .seed = 1, .folder = folder};
  const Task full{.scale = Scale::kFull, .seed = 1, .folder = folder};
  for (const MechanismKind& kind : mechanisms()) {
    if (!kind.network) continue;
    const std::string& mechanism = kind.name;
    const Setting market = setting("2x2");
    const Recipe shipped = auctions::recipe(mechanism, market);
    EXPECT_EQ(recipe_for(full, mechanism, market, 100).iterations, shipped.iterations);
    const Recipe less = recipe_for(quick, mechanism, market, 100);
    EXPECT_EQ(less.iterations, 100);
    EXPECT_EQ(less.hidden, shipped.hidden);
    EXPECT_EQ(less.width, shipped.width);
    EXPECT_EQ(less.batch, shipped.batch);
    EXPECT_EQ(less.samples, shipped.samples);
    EXPECT_EQ(less.rate, shipped.rate);
    EXPECT_EQ(less.misreport_steps, shipped.misreport_steps);
    EXPECT_EQ(less.candidates, shipped.candidates);
    EXPECT_EQ(less.refinements, shipped.refinements);
    EXPECT_EQ(less.multiplier, shipped.multiplier);
    EXPECT_EQ(less.penalty, shipped.penalty);
    EXPECT_EQ(less.penalty_step, shipped.penalty_step);
    EXPECT_EQ(less.regret_floor, shipped.regret_floor);
    EXPECT_EQ(less.regret_weight, 1);  // as in any short training
  }
}

}  // namespace
}  // namespace agora::reproduce
