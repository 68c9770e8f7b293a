#include "base/learning_loop.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>

#include "base/rng.h"
#include "base/run_folder.h"
#include "base/signals.h"
#include "support/scratch.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kTotal = 23;

// Where a wanderer is disturbed.
struct Fault {
  int64_t signal_in_step = -1;   // the signal comes while this step is taken: it is not
  int64_t signal_after = -1;     // after this one
  int64_t signal_in_look = -1;   // while this one is looked at
  int64_t full_disk_after = -1;  // saving fails from this one on
  bool save_always = false;
};

// A walk that depends on all of its past; an environment and its learner at once.
class Wanderer : public Resumable {
 public:
  explicit Wanderer(Fault fault) : fault_(fault) {}

  int64_t step() const override { return step_; }
  int64_t total() const override { return kTotal; }
  void advance(int64_t steps) override {
    for (int64_t k = 0; k < steps; ++k) {
      if (step_ + 1 == fault_.signal_in_step) {
        request_stop(SIGINT);
        throw_if_stopped();
      }
      Rng rng(7, 1, static_cast<uint32_t>(step_));
      place_ = 0.9 * place_ + rng.uniform() + drift_;
      seen_ += place_;
      path_ += place_ > 5 ? "+" : "-";
      if (++step_ == fault_.signal_after) request_stop(SIGTERM);
    }
  }
  std::vector<StoredTensor> tensors() const override {
    return {StoredTensor::of<double>("place", {2}, std::vector<double>{place_, seen_})};
  }
  Json extra() const override { return {{"step", step_}, {"path", path_}}; }
  void restore(const Checkpoint& checkpoint) override {
    const auto values = checkpoint.tensors.at("place").values<double>();
    place_ = values[0];
    seen_ = values[1];
    step_ = checkpoint.extra.at("step").get<int64_t>();
    path_ = checkpoint.extra.at("path").text();
  }
  NamedNumbers numbers() override {
    const double sum = seen_;
    seen_ = 0;
    return {{"sum", sum}, {"place", place_}};
  }

  void drift(double by) { drift_ = by; }
  std::string bits() const {
    std::string bytes(sizeof place_, '\0');
    std::memcpy(bytes.data(), &place_, sizeof place_);
    return bytes + path_;
  }

 private:
  Fault fault_;
  int64_t step_ = 0;
  double place_ = 0, seen_ = 0, drift_ = 0;
  std::string path_;
};

// A run folder whose disk can be full, and that is due when asked to be.
class Disk : public Checkpoints {
 public:
  Disk(RunFolder& folder, const Wanderer& learner, Fault fault)
      : folder_(folder), learner_(learner), fault_(fault) {}
  std::optional<Checkpoint> latest() const override { return folder_.latest(); }
  void save(int64_t step, std::vector<StoredTensor> tensors, const Json& extra) override {
    if (fault_.full_disk_after >= 0 && learner_.step() >= fault_.full_disk_after) {
      throw user_error("no space left");
    }
    folder_.save(step, std::move(tensors), extra);
  }
  bool save_is_due() const override { return fault_.save_always || folder_.save_is_due(); }

 private:
  RunFolder& folder_;
  const Wanderer& learner_;
  Fault fault_;
};

struct Ended {
  std::string bits, seen, log;
};

Ended wander(const fs::path& path, Fault fault) {
  RunFolder folder = RunFolder::open_or_create(path, {{"verb", "test"}});
  Wanderer wanderer(fault);
  Disk disk(folder, wanderer, fault);
  int64_t looked = 0;
  const Json seen =
      learn(wanderer, {.kept = &disk,
                       .metrics = &folder.metrics(),
                       .log_every = 4,
                       .looks = 4,
                       .look =
                           [&](int64_t step) {
                             const double sum = wanderer.numbers()[0].second;
                             if (++looked == fault.signal_in_look) {
                               request_stop(SIGINT);
                               throw_if_stopped();
                             }
                             return Json{{"step", step}, {"sum", sum}};
                           },
                       .before_share = [&](int64_t step) { wanderer.drift(0.01 * step); }});
  folder.finish({});
  return {wanderer.bits(), dump_json(seen), read_file(path / "metrics.csv")};
}

void expect_same(const Fault& fault, const Ended& whole, const std::string& what) {
  SCOPED_TRACE(what);
  const Scratch scratch;
  try {
    wander(scratch / "stopped", fault);
  } catch (const Interrupted&) {
    EXPECT_TRUE(stop_requested());
    EXPECT_TRUE(fs::exists(scratch / "stopped/state.json"));
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()), "no space left");
  }
  request_stop(0);
  if (!fs::exists(scratch / "stopped/result.json")) {
    const Ended again = wander(scratch / "stopped", {});
    EXPECT_EQ(again.bits, whole.bits);
    EXPECT_EQ(again.seen, whole.seen);
  }
  EXPECT_EQ(read_file(scratch / "stopped/metrics.csv"), whole.log);
}

TEST(LearningLoop, LooksAndLogsWhereItIsTold) {
  const Scratch scratch;
  const Json seen = parse_json(wander(scratch / "run", {}).seen, "seen");
  ASSERT_EQ(seen.size(), 4u);
  for (size_t k = 0; k < 4; ++k) EXPECT_EQ(seen[k]["step"], std::min<int64_t>(kTotal, 6 * (k + 1)));
  const std::string log = read_file(scratch / "run/metrics.csv");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1 + 6);  // steps 4, 8, ..., 20 and the last
  EXPECT_NE(log.find("\n23,"), std::string::npos);
}

// Whatever stops it, and wherever, the run that goes on ends with the bits of the one not stopped.
TEST(LearningLoop, GoesOnWithTheSameBitsFromEveryPoint) {
  const Scratch scratch;
  const Ended whole = wander(scratch / "whole", {});
  for (const bool always : {false, true}) {
    for (int64_t k = 1; k <= kTotal; k += always ? 5 : 1) {
      expect_same({.signal_in_step = k, .save_always = always}, whole,
                  fmt::format("in step {}", k));
      expect_same({.signal_after = k, .save_always = always}, whole,
                  fmt::format("after step {}", k));
      expect_same({.full_disk_after = k, .save_always = always}, whole,
                  fmt::format("full at {}", k));
    }
    for (int64_t k = 1; k <= 4; ++k) {
      expect_same({.signal_in_look = k, .save_always = always}, whole,
                  fmt::format("in look {}", k));
    }
  }
}

TEST(LearningLoop, ASignalSavesTheLastWholeStep) {
  const Scratch scratch;
  EXPECT_THROW(wander(scratch / "run", {.signal_in_step = 9}), Interrupted);
  request_stop(0);
  EXPECT_EQ(read_latest_checkpoint(scratch / "run")->step, 8);
}

TEST(LearningLoop, TellsWhereItBegins) {
  const Scratch scratch;
  RunFolder folder = RunFolder::open_or_create(scratch / "run", {{"verb", "test"}});
  Wanderer stopped({.signal_in_step = 9});
  std::vector<int64_t> from;
  EXPECT_THROW(learn(stopped, {.kept = &folder, .begins = [&] { from.push_back(stopped.step()); }}),
               Interrupted);
  request_stop(0);
  Wanderer again({});
  learn(again, {.kept = &folder, .begins = [&] { from.push_back(again.step()); }});
  EXPECT_EQ(from, (std::vector<int64_t>{0, 8}));
}

TEST(LearningLoop, NeedsNoFolder) {
  Wanderer alone({});
  EXPECT_TRUE(learn(alone, {}).empty());
  EXPECT_EQ(alone.step(), kTotal);
  Wanderer stopped({.signal_in_step = 5});
  EXPECT_THROW(learn(stopped, {}), Interrupted);
  request_stop(0);
}

TEST(LearningLoop, AnotherLearnersCheckpointIsTheUsersMistake) {
  const Scratch scratch;
  RunFolder folder = RunFolder::create(scratch / "run", {{"verb", "test"}});
  const std::vector<double> place{1, 0};
  folder.save(9, {StoredTensor::of<double>("place", {2}, place)}, {{"step", 8}, {"path", ""}});
  Wanderer wanderer({});
  expect_user_error([&] { learn(wanderer, {.kept = &folder}); }, {"of step 8, expected 9"});
  folder.save(99, {StoredTensor::of<double>("place", {2}, place)}, {{"step", 99}, {"path", ""}});
  expect_user_error([&] { learn(wanderer, {.kept = &folder}); }, {"of at most 23"});
}

}  // namespace
}  // namespace agora
