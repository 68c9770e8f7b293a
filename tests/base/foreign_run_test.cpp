// A run folder that somebody else made reaches nothing outside of it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/run_folder.h"
#include "support/scratch.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

const std::string kMine = "something of mine";

class ForeignRun : public ::testing::Test {
 protected:
  ForeignRun() {
    RunFolder run = RunFolder::create(folder, {{"verb", "test train"}, {"seed", 7}});
    run.metrics().record(1, "loss", 0.5);
    run.metrics().record(2, "loss", 0.25);
    run.append_file("log").append("one");
    run.save(2, {StoredTensor::of<double>("values", {1}, std::vector<double>{1})});
    state = parse_json_file(folder / "state.json");
    scratch.put("mine", kMine);
  }

  void expect_refused(const std::vector<std::string>& fragments) const {
    expect_user_error([&] { RunFolder::open(folder).latest(); }, fragments);
    EXPECT_EQ(read_file(scratch / "mine"), kMine);
  }

  // The same with another value in state.json.
  void expect_refused(const char* member, const Json& value,
                      const std::vector<std::string>& fragments) const {
    Json changed = state;
    changed.at(JsonPath(member)) = value;
    write_json(folder / "state.json", changed);
    expect_refused(fragments);
  }

  const Scratch scratch;
  const fs::path folder = scratch / "run";
  Json state;
};

TEST_F(ForeignRun, AsItWasItGoesOn) {
  RunFolder run = RunFolder::open(folder);
  EXPECT_EQ(run.latest()->step, 2);
  EXPECT_EQ(read_file(folder / "log"), "one");
}

TEST_F(ForeignRun, LinksPipesAndDevicesAreRefused) {
  for (const char* name :
       {".lock", "config.toml", "metrics.csv", "log", "state.json", "checkpoint-2.safetensors",
        "result.json", "mechanism.safetensors", "report.html", "deep/inside"}) {
    const fs::path file = folder / name;
    fs::create_directory(folder / "deep");
    const bool there = fs::exists(file);
    if (there) fs::rename(file, scratch / "kept");
    if (std::string_view(name) == "config.toml") {
      fs::create_symlink(scratch / "kept", file);  // it must be read to be refused
    } else {
      fs::create_symlink(scratch / "mine", file);
    }
    expect_refused({name, "the link"});
    fs::remove(file);
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    expect_refused({name, "the pipe"});
    fs::remove(file);
    if (there) fs::rename(scratch / "kept", file);
    fs::create_directory(file.parent_path());
  }
}

TEST_F(ForeignRun, LinksToNowhereAndInCirclesAreRefused) {
  fs::create_symlink(folder / "other", folder / "loop");
  fs::create_symlink(folder / "loop", folder / "other");
  expect_refused({"the link"});
  expect_user_error([&] { RunFolder::open(folder / "loop"); }, {"loop", "expected the folder"});
  expect_user_error([&] { RunFolder::create(folder / "loop" / "x", {{"verb", "v"}}); }, {"loop"});
}

TEST_F(ForeignRun, ALockThatIsNotOursIsRefused) {
  const fs::path fresh = scratch / "fresh";
  for (const bool hard : {false, true}) {
    fs::create_directory(fresh);
    if (hard) {
      fs::create_hard_link(scratch / "mine", fresh / ".lock");
    } else {
      fs::create_symlink(scratch / "mine", fresh / ".lock");
    }
    expect_user_error(
        [&] {
          RunFolder::create(fresh, {{"verb", "v"}});
        },
        {".lock", hard ? "second name" : "it is a link"});
    EXPECT_EQ(read_file(scratch / "mine"), kMine);
    fs::remove_all(fresh);
  }
}

TEST_F(ForeignRun, LogsWithASecondNameAreRefused) {
  for (const char* name : {".lock", "log", "metrics.csv"}) {
    fs::remove(folder / name);
    scratch.put("long", name == std::string("metrics.csv") ? "step,loss\n1,0.5\n2,0.25\n" : kMine);
    const std::string before = read_file(scratch / "long");
    fs::create_hard_link(scratch / "long", folder / name);
    expect_refused({name, "second name"});
    EXPECT_EQ(read_file(scratch / "long"), before);
    fs::remove(folder / name);
    scratch.put("run/" + std::string(name), before);
  }
}

TEST_F(ForeignRun, TheStateNamesFilesOfTheRunOnly) {
  for (const char* name : {"../mine", "/etc/passwd", "..", "", "mine", "checkpoint-3.safetensors",
                           "checkpoint-2/../../mine.safetensors", "checkpoint-2.safetensors/"}) {
    expect_refused("/checkpoint", name, {"state.json", "expected a checkpoint of step 2"});
  }
  expect_refused("/checkpoint", 7, {"state.json", "'checkpoint'"});
  expect_refused("/step", 3, {"expected a checkpoint of step 3"});
  expect_refused("/step", -2, {"expected a checkpoint"});
  expect_refused("/step", "2", {"'step'"});
  for (const char* name : {"..", ".", "", ".lock", "config.toml", "state.json", "result.json",
                           "checkpoint-2.safetensors", "metrics.csv"}) {
    expect_refused("/files", {{name, 0}}, {"state.json", "expected a log beside it"});
  }
  expect_refused("/files", {{"../mine", 0}}, {"expected a log beside it", "../mine"});
  expect_refused("/files", {{(scratch / "mine").string(), 0}}, {"expected a log beside it"});
  expect_refused("/files", {{"log", -1}}, {"expected a log beside it"});
  expect_refused("/files", {{"log", 4}}, {"log", "cut short"});
  expect_refused("/files", 3, {"'files'"});
}

TEST_F(ForeignRun, ALaterStepThanTheCheckpointIsRefused) {
  expect_refused("/metrics/step", 3, {"later step than 2"});
  expect_refused("/metrics/pending", {{"loss", 1}}, {"'loss'"});
  expect_refused("/metrics/pending", 1, {"metrics.csv"});
  expect_refused("/metrics/bytes", -1, {"metrics.csv"});
  expect_refused("/metrics/columns", {1}, {"'columns'"});
  expect_refused("/metrics", {1}, {"'bytes'"});
}

TEST_F(ForeignRun, AMissingCheckpointIsNamed) {
  fs::remove(folder / "checkpoint-2.safetensors");
  expect_refused({"checkpoint-2.safetensors", "No such file"});
}

}  // namespace
}  // namespace agora
