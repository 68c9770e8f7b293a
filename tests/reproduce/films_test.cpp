// Films that an experiment keeps are in its report.
#include <gtest/gtest.h>

#include "base/build.h"
#include "base/files.h"
#include "reproduce/agent_stages.h"
#include "reproduce/book.h"
#include "support/scratch.h"

namespace agora::reproduce {
namespace {

Experiment filmed_experiment(const std::string& film) {
  return {.name = "filmed",
          .chapter = 9,
          .title = "Somebody plays",
          .source = "nowhere",
          .quick = {.seeds = {1, 2}, .expected_seconds = 1, .words = "few steps"},
          .full = {},
          .run =
              [film](Task& task) {
                Stages stages(task);
                return stages.stage("ppo", [&] {
                  return learn_agent(
                      stages, {.algorithm = "ppo",
                               .options = {.environment = "maze",
                                           .levels = agents::Levels::range(0, 5),
                                           .steps = 512,
                                           .environments = 8,
                                           .seed = task.seed,
                                           .network = {.kind = "mlp", .width = 8, .layers = 1},
                                           .arguments = {{"rollout", 32.0}}},
                               .looks = 1,
                               .episodes = 8,
                               .film = film});
                });
              },
          .judge =
              [](Scale, const std::vector<Json>& results) {
                Judgement outcome;
                outcome.findings.push_back(
                    finding("return", "", numbers_at(results, JsonPath("/test")), at_least(-1)));
                return outcome;
              }};
}

std::string report_of(const Experiment& experiment) {
  const Scratch scratch;
  const Order order{.out = scratch.path()};
  std::vector<Job> jobs = plan_jobs({&experiment}, order);
  for (Job& job : jobs) {
    const std::string recipe = recipe_hash(experiment, order.scale, job.seed, build_id());
    run_task(experiment, order.scale, job.seed, job.folder, {{"verb", "test"}, {"recipe", recipe}});
    job.state = Job::State::kDone;
  }
  write_report(scratch / "report.html", judge(jobs, order), order);
  return read_file(scratch / "report.html");
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Films, AreInTheReportOfOneSeed) {
  const std::string with = report_of(filmed_experiment("PPO-on-unseen-levels"));
  EXPECT_EQ(count(with, "data:image/png;base64,"), 1);
  EXPECT_EQ(count(with, "PPO on unseen levels"), 2)
      << "its title, and its words for those who cannot see";
  EXPECT_NE(with.find("At play, with seed 1"), std::string::npos);
  const std::string without = report_of(filmed_experiment(""));
  EXPECT_EQ(count(without, "data:image/png;base64,"), 0);
  EXPECT_EQ(without.find("At play"), std::string::npos);
  EXPECT_LT(with.size() - without.size(), 80'000U);
}

}  // namespace
}  // namespace agora::reproduce
