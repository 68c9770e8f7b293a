#include "base/run_folder.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <map>
#include <memory>
#include <thread>

#include "base/rng.h"
#include "support/scratch.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

const Json kSettings = {{"verb", "test train"}, {"seed", 7}, {"rate", 0.5}, {"names", {"a", "b"}}};

std::vector<StoredTensor> tensors_of(const std::vector<double>& values) {
  return {StoredTensor::of<double>("values", {static_cast<int64_t>(values.size())}, values)};
}

TEST(RunFolder, CreatesSavesAndResumes) {
  const Scratch scratch;
  const fs::path path = scratch / "run";
  {
    RunFolder run = RunFolder::create(path, kSettings);
    EXPECT_FALSE(run.latest());
    run.metrics().record(1, "loss", 0.5);
    run.save(10, tensors_of({1, 2, 3}), {{"adam", 3}});
  }
  RunFolder run = RunFolder::open(path);
  EXPECT_EQ(run.settings()["verb"], "test train");
  EXPECT_EQ(run.settings()["rate"], 0.5);
  EXPECT_EQ(run.settings()["names"], Json({"a", "b"}));
  const auto checkpoint = run.latest();
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->step, 10);
  EXPECT_EQ(checkpoint->extra, Json({{"adam", 3}}));
  EXPECT_EQ(checkpoint->tensors.at("values").values<double>(), (std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(checkpoint->tensors.metadata.empty());
  EXPECT_FALSE(run.finished());
  EXPECT_FALSE(read_run_result(path));
  run.finish({{"revenue", 0.55}});
  EXPECT_TRUE(run.finished());
  EXPECT_EQ(read_run_result(path), Json({{"revenue", 0.55}}));
  EXPECT_EQ(read_latest_checkpoint(path)->step, 10);
}

TEST(RunFolder, ConfigIsReadableToml) {
  const Scratch scratch;
  RunFolder::create(scratch / "run", kSettings);
  const std::string config = read_file(scratch / "run" / "config.toml");
  EXPECT_NE(config.find("verb = \"test train\"\n"), std::string::npos) << config;
  EXPECT_NE(config.find("format = 1\n"), std::string::npos);
  EXPECT_NE(config.find("names = [\"a\", \"b\"]\n"), std::string::npos);
}

TEST(RunFolder, KeepsTheLastCheckpoints) {
  const Scratch scratch;
  RunFolder run = RunFolder::create(scratch / "run", kSettings);
  for (int64_t step = 10; step <= 120; step += 10) run.save(step, tensors_of({1}));
  const auto has = [&](int step) {
    return fs::exists(scratch / "run" / fmt::format("checkpoint-{}.safetensors", step));
  };
  EXPECT_TRUE(has(120) && has(110) && has(100));
  EXPECT_FALSE(has(90));
  EXPECT_FALSE(has(10));
  const auto counts = [&] {
    return parse_json_file(scratch / "run" / "state.json").at("checkpoint").get<std::string>();
  };
  const std::string before = counts();
  run.save(120, tensors_of({2}));  // the same step again; until then the old one is whole
  EXPECT_NE(counts(), before);
  EXPECT_EQ(run.latest()->tensors.at("values").values<double>()[0], 2);
  run.save(120, tensors_of({3}));
  EXPECT_EQ(run.latest()->tensors.at("values").values<double>()[0], 3);
}

TEST(RunFolder, MistakesAreOneLine) {
  const Scratch scratch;
  const fs::path path = scratch / "run";
  const auto refused = [](auto body, std::vector<std::string> fragments) {
    expect_user_error(body, fragments);
  };
  refused([&] { RunFolder::open(path); }, {"no such folder"});
  scratch.put("file", "x");
  refused([&] { RunFolder::open(scratch / "file"); }, {"it is a file"});
  refused([&] { RunFolder::create(scratch / "file", kSettings); }, {"file"});
  refused([&] { RunFolder::open(scratch.path()); }, {"no run"});
  refused([&] { RunFolder::create(scratch.path(), kSettings); }, {"not empty", "it has file"});
  refused([&] { RunFolder::create("/proc/run", kSettings); }, {"/proc/run"});
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"file"});

  RunFolder::create(path, kSettings);
  refused([&] { RunFolder::create(path, kSettings); }, {"already holds a run", "agora resume"});
  EXPECT_EQ(RunFolder::open_or_create(path, kSettings).settings()["seed"], 7);
  Json other = kSettings;
  other["seed"] = 8;
  refused([&] { RunFolder::open_or_create(path, other); }, {"seed = 7", "not 8"});
  other.erase("seed");
  refused([&] { RunFolder::open_or_create(path, other); }, {"seed = 7"});
  other["seed"] = UINT64_MAX;
  refused([&] { RunFolder::create(scratch / "new", other); },
          {"18446744073709551615", "too large"});
  EXPECT_FALSE(fs::exists(scratch / "new"));
}

TEST(RunFolder, RefusesANewerFormat) {
  const Scratch scratch;
  RunFolder::create(scratch / "run", kSettings).save(1, tensors_of({1}));
  const fs::path config = scratch / "run" / "config.toml", state = scratch / "run" / "state.json";
  const std::string good = read_file(config);
  write_atomically(config, "verb = \"x\"\nversion = \"9.1\"\nformat = 2\n");
  expect_user_error([&] { RunFolder::open(scratch / "run"); },
                    {"config.toml", "newer agora", "9.1", "format 2"});
  write_atomically(config, "verb = \n");
  expect_user_error([&] { RunFolder::open(scratch / "run"); }, {"config.toml:1:"});
  write_atomically(config, "verb = \"x\"\n");
  expect_user_error([&] { RunFolder::open(scratch / "run"); }, {"'format'"});
  write_atomically(config, good);
  write_json(state, {{"format", 2}, {"version", "9.1"}});
  expect_user_error([&] { RunFolder::open(scratch / "run"); }, {"state.json", "newer agora"});
  write_atomically(state, "\x01\x02");
  expect_user_error([&] { RunFolder::open(scratch / "run"); }, {"state.json:1:1"});
}

TEST(RunFolder, OneProcessAtATime) {
  const Scratch scratch;
  RunFolder first = RunFolder::create(scratch / "run", kSettings);
  expect_user_error([&] { RunFolder::open(scratch / "run"); },
                    {"in use by process", fmt::format("{}", getpid())});
  RunFolder moved = std::move(first);
  expect_user_error([&] { RunFolder::open(scratch / "run"); }, {"in use"});
  { const RunFolder gone = std::move(moved); }
  EXPECT_NO_THROW(RunFolder::open(scratch / "run"));
}

TEST(RunFolder, WaitsForAHolderThatIsDying) {
  const Scratch scratch;
  auto held = std::make_unique<RunFolder>(RunFolder::create(scratch / "run", kSettings));
  std::thread dying([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    held.reset();
  });
  EXPECT_NO_THROW(RunFolder::open(scratch / "run"));
  dying.join();
}

TEST(RunFolder, MetricsAreAWideTable) {
  const Scratch scratch;
  const fs::path csv = scratch / "run" / "metrics.csv";
  RunFolder run = RunFolder::create(scratch / "run", kSettings);
  MetricsSink& metrics = run.metrics();
  metrics.record(1, "loss", 0.1);
  metrics.record(1, "loss", 0.2);  // the last one counts
  metrics.record(1, "rate", 3);
  metrics.record(2, "rate", 1e-9);
  EXPECT_EQ(read_file(csv), "step,loss,rate\n1,0.2,3\n");
  run.save(2, {});
  metrics.record(2, "a,b", -1);
  metrics.record(3, "loss", 1);
  EXPECT_EQ(read_file(csv), "step,loss,rate,\"a,b\"\n1,0.2,3,\n2,,1e-09,-1\n");
  EXPECT_THROW(metrics.record(2, "loss", 0), Error);
  EXPECT_THROW(metrics.record(4, "step", 0), Error);
}

TEST(RunFolder, ResumeCutsMetricsAndLogsBack) {
  const Scratch scratch;
  const fs::path folder = scratch / "run";
  const auto first_half = [](RunFolder& run) {
    run.metrics().record(1, "loss", 0.25);
    run.metrics().record(2, "loss", 0.5);
    run.append_file("events").append("one");
    run.save(2, tensors_of({2}));
  };
  const auto second_half = [](RunFolder& run) {
    run.metrics().record(2, "gap", 7);
    run.metrics().record(3, "test", 9);
    run.append_file("events").append("two");
  };
  {
    RunFolder run = RunFolder::create(folder, kSettings);
    first_half(run);
    second_half(run);
    run.metrics().record(4, "more", 1);  // never saved
    run.metrics().record(5, "more", 1);
  }
  scratch.put("run/.state.json.1.0.agora.tmp", "half");
  scratch.put("run/checkpoint-3.safetensors", "never counted");
  {
    RunFolder run = RunFolder::open(folder);
    EXPECT_EQ(run.latest()->step, 2);
    second_half(run);
    run.finish({});
  }
  EXPECT_EQ(read_file(folder / "metrics.csv"), "step,loss,gap,test\n1,0.25,,\n2,0.5,7,\n3,,,9\n");
  EXPECT_EQ(read_file(folder / "events"), "onetwo");
  EXPECT_FALSE(fs::exists(folder / ".state.json.1.0.agora.tmp"));
  EXPECT_FALSE(fs::exists(folder / "checkpoint-3.safetensors"));
  scratch.put("run/metrics.csv", "step\n");
  fs::remove(folder / "result.json");
  expect_user_error([&] { RunFolder::open(folder); }, {"metrics.csv", "cut short"});
}

TEST(RunFolder, WithoutACheckpointItStartsAgain) {
  const Scratch scratch;
  {
    RunFolder run = RunFolder::create(scratch / "run", kSettings);
    run.metrics().record(1, "loss", 1);
    run.metrics().record(2, "loss", 1);
  }
  RunFolder run = RunFolder::open(scratch / "run");
  run.metrics().record(1, "other", 1);
  run.finish({});
  EXPECT_EQ(read_file(scratch / "run" / "metrics.csv"), "step,other\n1,1\n");
}

TEST(RunFolder, KilledBeforeFinishItStillWritesTheLastRow) {
  const Scratch scratch;
  {
    RunFolder run = RunFolder::create(scratch / "run", kSettings);
    run.metrics().record(1, "loss", 1);
    run.save(1, {});
  }
  RunFolder::open(scratch / "run").finish({});
  EXPECT_EQ(read_file(scratch / "run" / "metrics.csv"), "step,loss\n1,1\n");
}

TEST(RunFolder, AFullDiskKeepsTheLastCheckpoint) {
  const Scratch scratch;
  if (mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=131072") != 0) {
    GTEST_SKIP() << "a small disk cannot be mounted here";
  }
  {
    RunFolder run = RunFolder::create(scratch / "run", kSettings);
    run.metrics().record(1, "loss", 1);
    run.metrics().record(2, "loss", 2);
    run.save(2, tensors_of({1, 2}));
    expect_user_error([&] { run.save(3, tensors_of(std::vector<double>(50'000))); },
                      {"checkpoint-3.safetensors", "No space left on device"});
    EXPECT_EQ(run.latest()->step, 2);
    expect_user_error(
        [&] {
          for (int64_t step = 3; step < 100'000; ++step) run.metrics().record(step, "loss", 0.1);
        },
        {"metrics.csv", "No space left on device"});
    EXPECT_EQ(read_file(scratch / "run" / "metrics.csv").back(), '\n');  // no half row
  }
  EXPECT_EQ(RunFolder::open(scratch / "run").latest()->step, 2);
  EXPECT_EQ(read_file(scratch / "run" / "metrics.csv"), "step,loss\n1,1\n");
  for (const auto& entry : fs::directory_iterator(scratch / "run")) {
    EXPECT_FALSE(entry.path().string().ends_with(".tmp")) << entry.path();
  }
  umount(scratch.path().c_str());
}

// A learner in small: a few numbers, a random step, metrics with a column that comes late.
void learn(const fs::path& folder) {
  constexpr int64_t kSteps = 60;
  RunFolder run = RunFolder::open_or_create(folder, kSettings);
  if (run.finished()) return;
  std::vector<double> values(500, 0.0);
  int64_t step = 0;
  double moved = 0;
  if (const auto checkpoint = run.latest()) {
    step = checkpoint->step;
    values = checkpoint->tensors.at("values", {500}).values<double>();
    moved = checkpoint->extra["moved"].get<double>();
  }
  while (step < kSteps) {
    ++step;
    for (size_t i = 0; i < values.size(); ++i) {
      const double change =
          Rng(7, 0, static_cast<uint32_t>(step), static_cast<uint32_t>(i)).normal();
      values[i] += change;
      moved += std::abs(change);
    }
    run.metrics().record(step, "first", values[0]);
    run.metrics().record(step, "moved", moved);
    if (step > 30) run.metrics().record(step, "late", values[1]);
    run.append_file("events").append(fmt::format("{} {}\n", step, values[2]));
    run.save(step, tensors_of(values), {{"moved", moved}});
  }
  run.finish({{"moved", moved}});
}

std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name != ".lock") files[name] = read_file(entry.path());
  }
  return files;
}

TEST(RunFolder, KilledAtAnyMomentItEndsWithTheSameBits) {
  const Scratch scratch;
  learn(scratch / "whole");
  const auto whole = files_of(scratch / "whole");
  ASSERT_TRUE(whole.contains("result.json") && whole.contains("checkpoint-60.safetensors"));
  Rng rng(11);
  int kills = 0, runs = 0;
  while (kills < 40) {
    const fs::path folder = scratch / fmt::format("run{}", runs++);
    for (bool done = false; !done;) {
      const pid_t child = fork();
      if (child == 0) {
        try {
          learn(folder);
        } catch (const std::exception& error) {
          fmt::print(stderr, "{}\n", error.what());
          _exit(1);
        }
        _exit(0);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(rng.below(60'000)));
      kill(child, SIGKILL);
      int status = 0;
      waitpid(child, &status, 0);
      done = WIFEXITED(status);
      kills += done ? 0 : 1;
      ASSERT_TRUE(!done || WEXITSTATUS(status) == 0);
    }
    const auto files = files_of(folder);
    ASSERT_EQ(files.size(), whole.size());
    for (const auto& [name, bytes] : whole) {
      ASSERT_TRUE(files.contains(name)) << name;
      EXPECT_EQ(files.at(name), bytes) << name;
    }
  }
  RecordProperty("kills", kills);
  RecordProperty("runs", runs);
}

}  // namespace
}  // namespace agora
