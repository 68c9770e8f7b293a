// Whose results are used again, and what is said of those that are not there.
#include "reproduce/runner.h"

#include <gtest/gtest.h>

#include "base/build.h"
#include "base/files.h"
#include "base/run_folder.h"
#include "reproduce/book.h"
#include "support/program.h"
#include "support/scratch.h"

namespace agora::reproduce {
namespace {

namespace fs = std::filesystem;

// Its result is its seed; published is 2, and 1 more or less will do.
Experiment seeds_experiment(const std::string& name = "seeds") {
  return {.name = name,
          .chapter = 9,
          .title = "A result that is the seed",
          .source = "nowhere",
          .quick = {.seeds = {1, 2, 3}, .expected_seconds = 3, .words = "three seeds"},
          .full = {.seeds = {1, 2, 3}, .expected_seconds = 3, .words = "three seeds"},
          .run =
              [](Task& task) {
                return Json{{"seed", task.seed}};
              },
          .judge =
              [](Scale, const std::vector<Json>& results) {
                std::vector<double> values;
                for (const Json& each : results) values.push_back(each.at("seed").get<double>());
                Judgement outcome;
                outcome.findings.push_back(finding("seed", "2", values, within(2, 1)));
                return outcome;
              }};
}

void run_here(const Job& job, Scale scale) {
  const std::string recipe = recipe_hash(*job.experiment, scale, job.seed, build_id());
  run_task(*job.experiment, scale, job.seed, job.folder, {{"verb", "test"}, {"recipe", recipe}});
}

std::vector<Job> done(const std::vector<const Experiment*>& chosen, const Order& order) {
  std::vector<Job> jobs = plan_jobs(chosen, order);
  for (Job& job : jobs) {
    run_here(job, order.scale);
    job.state = Job::State::kDone;
  }
  return jobs;
}

int reused(const std::vector<Job>& jobs) {
  return static_cast<int>(
      std::count_if(jobs.begin(), jobs.end(), [](const Job& job) { return job.reused; }));
}

void change(const fs::path& file, const std::function<void(Json&)>& edit) {
  Json value = parse_json_file(file);
  edit(value);
  write_json(file, value);
}

// As if this build, with another id, had made it.
void make_of_another_build(const Job& job, Scale scale) {
  const std::string recipe = recipe_hash(*job.experiment, scale, job.seed, "another");
  change(job.folder / "result.json", [&](Json& result) {
    result["build"] = "another";
    result["recipe"] = recipe;
    result["values"]["seed"] = 77;
  });
  std::string config = read_file(job.folder / "config.toml");
  const std::string ours = recipe_hash(*job.experiment, scale, job.seed, build_id());
  config.replace(config.find(ours), ours.size(), recipe);
  write_atomically(job.folder / "config.toml", config);
}

TEST(Recipe, IsExperimentConfigurationScaleSeedAndBuild) {
  const Experiment one = seeds_experiment();
  const std::string hash = recipe_hash(one, Scale::kQuick, 1, "b");
  EXPECT_EQ(hash, recipe_hash(seeds_experiment(), Scale::kQuick, 1, "b"));
  EXPECT_NE(hash, recipe_hash(seeds_experiment("other"), Scale::kQuick, 1, "b"));
  EXPECT_NE(hash, recipe_hash(one, Scale::kFull, 1, "b"));
  EXPECT_NE(hash, recipe_hash(one, Scale::kQuick, 2, "b"));
  EXPECT_NE(hash, recipe_hash(one, Scale::kQuick, 1, "c"));
  Experiment longer = seeds_experiment();
  longer.quick.words = "three seeds, more profiles";
  EXPECT_NE(hash, recipe_hash(longer, Scale::kQuick, 1, "b"));
}

TEST(Runner, UsesFinishedResultsAgain) {
  const Scratch scratch;
  const Experiment experiment = seeds_experiment();
  const Order order{.out = scratch.path()};
  EXPECT_EQ(done({&experiment}, order).size(), 3);
  EXPECT_EQ(reused(plan_jobs({&experiment}, order)), 3);
  Order other = order;
  other.seed = 1;  // 2, 3, 4: two of them are there
  EXPECT_EQ(reused(plan_jobs({&experiment}, other)), 2);
  other = order;
  other.seeds = {3, 9};
  const std::vector<Job> named = plan_jobs({&experiment}, other);
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named[0].seed + named[1].seed, 12U);
  EXPECT_EQ(reused(named), 1);
  other = order;
  other.scale = Scale::kFull;
  EXPECT_EQ(reused(plan_jobs({&experiment}, other)), 0);
  Experiment longer = seeds_experiment();
  longer.quick.words = "three seeds, more profiles";
  EXPECT_EQ(reused(plan_jobs({&longer}, order)), 0);
}

TEST(Runner, RunsFreshOnesAgain) {
  const Scratch scratch;
  const Experiment experiment = seeds_experiment();
  const auto jobs = done({&experiment}, {.out = scratch.path()});
  EXPECT_EQ(reused(plan_jobs({&experiment}, {.out = scratch.path(), .fresh = true})), 0);
  for (const Job& job : jobs) EXPECT_FALSE(fs::exists(job.folder));
}

TEST(Runner, RunsResultsOfAnotherBuildAgain) {
  const Scratch scratch;
  const Experiment experiment = seeds_experiment();
  const Order order{.out = scratch.path()};
  make_of_another_build(done({&experiment}, order)[1], order.scale);
  Order any = order;
  any.any_build = true;
  const auto taken = judge(plan_jobs({&experiment}, any), any);
  EXPECT_TRUE(taken[0].other_build);
  EXPECT_EQ(taken[0].fate, Fate::kMissed);  // 1, 77, 3
  const auto jobs = plan_jobs({&experiment}, order);
  EXPECT_EQ(reused(jobs), 2);
  EXPECT_EQ(judge(jobs, order)[0].fate, Fate::kNotRun);
  const auto again = judge(done({&experiment}, order), order);
  EXPECT_EQ(again[0].fate, Fate::kReproduced);
  EXPECT_FALSE(again[0].other_build);
}

TEST(Runner, GoesOnOnlyWithWhatThisBuildBegan) {
  const Scratch scratch;
  const Experiment experiment = seeds_experiment();
  const Order order{.out = scratch.path()};
  const auto jobs = plan_jobs({&experiment}, order);
  const std::string ours = recipe_hash(experiment, order.scale, jobs[0].seed, build_id());
  for (size_t i = 0; i < 2; ++i) {
    const std::string recipe = i == 0 ? ours : "another";
    RunFolder::create(jobs[i].folder, {{"verb", "test"}, {"recipe", recipe}}).save(7, {});
  }
  expect_user_error(
      [&] {
        run_task(experiment, order.scale, jobs[1].seed, jobs[1].folder,
                 read_run_settings(jobs[1].folder));
      },
      {"another build", jobs[1].folder.string()});
  plan_jobs({&experiment}, order);
  EXPECT_EQ(read_latest_checkpoint(jobs[0].folder)->step, 7);
  EXPECT_FALSE(fs::exists(jobs[1].folder));
}

TEST(Book, JudgesEverySeedByItsOwnResult) {
  const Scratch scratch;
  Experiment experiment = seeds_experiment();
  const auto plain = experiment.judge;
  std::vector<uint64_t> seen;
  experiment.judge = [&](Scale scale, const std::vector<Json>& results) {
    for (const Json& each : results) seen.push_back(each.at("seed").get<uint64_t>());
    return plain(scale, results);
  };
  const Order order{.seed = 10, .out = scratch.path()};
  const auto chapters = judge(done({&experiment}, order), order);
  EXPECT_EQ(seen, (std::vector<uint64_t>{11, 12, 13}));
  EXPECT_EQ(chapters[0].outcome.findings[0].ours, 12);
  EXPECT_EQ(chapters[0].fate, Fate::kMissed);
}

class Fates : public ::testing::Test {
 protected:
  Fates() {
    asked_.on_request = true;
    lacking_.missing = [](Scale) { return "no images; `apt-get install images` brings them"; };
    missed_.judge = [](Scale, const std::vector<Json>&) {
      Judgement outcome;
      outcome.findings = {finding("good", "1", {1}, within(1, 0)),
                          finding("bad", "1", {2}, within(1, 0))};
      return outcome;
    };
    looser_.judge = [](Scale scale, const std::vector<Json>&) {
      Judgement outcome;
      outcome.findings = {finding("good", "1", {1}, within(1, 0)),
                          finding(scale, "near", "1", {2, 3}, within(1, 0), at_most(3))};
      return outcome;
    };
    shown_.judge = [](Scale scale, const std::vector<Json>&) {
      Judgement outcome;
      outcome.findings = {finding(scale, "near", "1", {2}, within(1, 0), at_most(3)),
                          not_judged("speed", "> 1", {}, "too short")};
      return outcome;
    };
    blind_.judge = [](Scale, const std::vector<Json>&) {
      Judgement outcome;
      outcome.findings = {not_judged("speed", "> 1", {}, "too short")};
      return outcome;
    };
    unjudged_.judge = [](Scale, const std::vector<Json>& results) {
      Judgement outcome;
      outcome.findings = {
          finding("gone", "1", {results[0].at("gone").get<double>()}, within(1, 0))};
      return outcome;
    };
    empty_.judge = [](Scale, const std::vector<Json>&) { return Judgement{}; };
    std::vector<Job> jobs =
        done({&good_, &looser_, &shown_, &blind_, &missed_, &unjudged_, &empty_}, order_);
    for (Job& job : plan_jobs({&failed_, &stopped_}, order_)) {
      // One seed of each is done, one broke or was stopped, one never began.
      if (job.seed == 1) run_here(job, order_.scale);
      if (job.seed == 2) {
        const bool fails = job.experiment == &failed_;
        job.state = fails ? Job::State::kFailed : Job::State::kStopped;
        job.failure = fails ? "Z is <nan>" : "interrupted by signal 15";
      }
      jobs.push_back(job);
    }
    chapters_ = judge(jobs, order_, {&asked_, &lacking_});
  }

  const Chapter& chapter(const Experiment& experiment) const {
    return *std::find_if(chapters_.begin(), chapters_.end(),
                         [&](const Chapter& each) { return each.experiment == &experiment; });
  }

  Scratch scratch_;
  Order order_{.out = scratch_.path()};
  Experiment good_ = seeds_experiment("good"), looser_ = seeds_experiment("looser"),
             shown_ = seeds_experiment("shown"), blind_ = seeds_experiment("blind"),
             missed_ = seeds_experiment("missed"), unjudged_ = seeds_experiment("unjudged"),
             empty_ = seeds_experiment("empty"), failed_ = seeds_experiment("failed"),
             stopped_ = seeds_experiment("stopped"), asked_ = seeds_experiment("asked"),
             lacking_ = seeds_experiment("lacking");
  std::vector<Chapter> chapters_;
};

TEST_F(Fates, AreToldApart) {
  EXPECT_EQ(chapter(good_).fate, Fate::kReproduced);
  EXPECT_EQ(chapter(good_).why, "");
  EXPECT_EQ(chapter(looser_).fate, Fate::kLooser);
  EXPECT_EQ(chapter(looser_).why, "near: 2, 3, expected 1 ± 0; looser: ≤ 3");
  EXPECT_EQ(chapter(shown_).fate, Fate::kPartly);
  EXPECT_EQ(chapter(shown_).why, "1 of 2 hold; speed: not judged: too short");
  EXPECT_EQ(chapter(blind_).fate, Fate::kNotJudged);
  EXPECT_EQ(chapter(blind_).why, "speed: not judged: too short");
  EXPECT_EQ(chapter(missed_).fate, Fate::kMissed);
  EXPECT_EQ(chapter(missed_).why, "bad: 2, expected 1 ± 0");
  EXPECT_EQ(chapter(failed_).fate, Fate::kFailed);
  EXPECT_EQ(chapter(failed_).why, "seed 2: Z is <nan>");
  EXPECT_EQ(chapter(unjudged_).fate, Fate::kFailed);
  EXPECT_NE(chapter(unjudged_).why.find("cannot be judged"), std::string::npos);
  EXPECT_EQ(chapter(empty_).fate, Fate::kFailed);  // no rule at all is no success
  EXPECT_EQ(chapter(stopped_).fate, Fate::kNotRun);
  EXPECT_EQ(chapter(stopped_).why, "seed 2: interrupted by signal 15");
  EXPECT_EQ(chapter(asked_).fate, Fate::kOnRequest);
  EXPECT_EQ(chapter(lacking_).fate, Fate::kNotRun);
  EXPECT_EQ(chapter(lacking_).why, "no images; `apt-get install images` brings them");
  EXPECT_EQ(in_words(chapters_),
            "1 reproduced, 1 hold looser than published, 1 partly judged at quick scale, "
            "1 not judged at quick scale, 1 missed, 3 failed, 1 on request, 2 not run");
}

TEST_F(Fates, AreInTheJson) {
  const Json json = to_json(chapters_, order_.scale);
  EXPECT_EQ(json["reproduced"], 1);
  EXPECT_EQ(json["looser"], 1);
  EXPECT_EQ(json["partly_judged"], 1);
  EXPECT_EQ(json["not_judged"], 1);
  EXPECT_EQ(json["missed"], 1);
  EXPECT_EQ(json["failed"], 3);
  EXPECT_EQ(json["on_request"], 1);
  EXPECT_EQ(json["not_run"], 2);
  std::map<std::string, std::string> verdicts, reproduced;
  for (const Json& each : json["experiments"]) {
    verdicts[each["name"].text()] = each["verdict"].text();
    reproduced[each["name"].text()] = dump_json(each["reproduced"]);
  }
  EXPECT_EQ(reproduced, (std::map<std::string, std::string>{{"good", "true"},
                                                            {"looser", "null"},
                                                            {"shown", "null"},
                                                            {"blind", "null"},
                                                            {"missed", "false"},
                                                            {"unjudged", "false"},
                                                            {"empty", "false"},
                                                            {"failed", "false"},
                                                            {"stopped", "null"},
                                                            {"asked", "null"},
                                                            {"lacking", "null"}}));
  EXPECT_EQ(verdicts,
            (std::map<std::string, std::string>{{"good", "reproduced"},
                                                {"looser", "holds, looser than published"},
                                                {"shown", "partly judged at quick scale"},
                                                {"blind", "not judged at quick scale"},
                                                {"missed", "missed"},
                                                {"unjudged", "failed"},
                                                {"empty", "failed"},
                                                {"failed", "failed"},
                                                {"stopped", "not run"},
                                                {"asked", "on request"},
                                                {"lacking", "not run"}}));
}

TEST_F(Fates, AreOnThePage) {
  write_report(scratch_ / "report.html", chapters_, order_);
  const std::string page = testing::contents(scratch_ / "report.html");
  for (const std::string words :
       {"1 reproduced</span>", "1 hold looser than published</span>",
        "1 partly judged at quick scale</span>", "1 not judged at quick scale</span>",
        "1 missed</span>", "3 failed</span>", "1 on request</span>", "2 not run</span>",
        "failed: seed 2: Z is &lt;nan&gt;", "not run: seed 2: interrupted",
        "not run: no images; `apt-get",
        "on request: `agora reproduce asked --scale quick --seed 0` runs it"}) {
    EXPECT_NE(page.find(words), std::string::npos) << words;
  }
}

}  // namespace
}  // namespace agora::reproduce
