#include <fmt/format.h>

#include <chrono>

#include "base/error.h"
#include "base/learning_loop.h"
#include "base/progress.h"
#include "base/run_folder.h"
#include "base/statistics.h"
#include "cli/kind_options.h"
#include "cli/plan_model.h"
#include "cli/verb.h"
#include "planning/learning/learning_curve.h"
#include "report/html.h"
#include "report/run_metrics.h"

namespace agora::cli::kind_plan_learn {
namespace {

using planning::LearningCurve;
using planning::LearningOptions;

constexpr int64_t kGreedyEpisodes = 100;

struct Settings {
  LearningOptions learning;
  int64_t episodes = 1000;
  std::string run, report;
  std::shared_ptr<KindOptions> told;
};

void learn(LearningCurve& curve, RunFolder* folder) {
  std::optional<report::RunMetrics> metrics;
  if (folder != nullptr) metrics.emplace(*folder);
  agora::learn(curve, {.kept = folder,
                       .metrics = metrics ? &*metrics : nullptr,
                       .log_every = curve.window(),
                       .title = "learn",
                       .unit = "episodes",
                       .note = [](const NamedNumbers& numbers) {
                         return fmt::format("return {:.4g}", numbers.front().second);
                       }});
}

Json result_of(const LearningCurve& curve, const ModelOptions& model, const Settings& settings,
               double seconds) {
  const Summary greedy = summarise(curve.run().greedy_returns(kGreedyEpisodes));
  return {{"model", model.source},
          {"algorithm", settings.learning.algorithm},
          {"exploration", settings.learning.exploration},
          {"episodes", settings.episodes},
          {"runs", settings.learning.runs},
          {"steps", curve.run().steps()},
          {"return", {{"mean", curve.mean().back()}, {"ci95", curve.half_width().back()}}},
          {"greedy", {{"mean", greedy.mean}, {"ci95", greedy.half_width95}}},
          {"seconds", seconds},
          {"run", settings.run.empty() ? Json(nullptr) : Json(settings.run)}};
}

void write_report(const Settings& settings, const Common& common, const Json& result,
                  const LearningCurve& curve) {
  report::Series series{
      .name = settings.learning.algorithm, .x = curve.episode(), .y = curve.mean()};
  for (size_t i = 0; i < series.y.size(); ++i) {
    series.lower.push_back(curve.mean()[i] - curve.half_width()[i]);
    series.upper.push_back(curve.mean()[i] + curve.half_width()[i]);
  }
  report::LineChart chart{
      .title = "Return while learning",
      .caption = fmt::format("Means of {} episodes and {} runs; the band is the 95 % interval.",
                             curve.window(), settings.learning.runs),
      .x = {.title = "episode"},
      .y = {.title = "return"},
      .series = {series}};
  std::vector<report::Fact> facts;
  for (const char* key : {"algorithm", "exploration", "episodes", "runs", "steps"}) {
    const Json& value = result.at(key);
    facts.push_back({key, value.is_string() ? value.get<std::string>() : dump_json(value)});
  }
  facts.push_back(
      {"greedy policy", fmt::format("{:.4g} ± {:.2g}", result["greedy"]["mean"].get<double>(),
                                    result["greedy"]["ci95"].get<double>())});
  report::write_html(
      settings.report,
      {.title = "Learning on " + result.at("model").get<std::string>(),
       .summary = {report::Facts{facts}, report::Code{common.command, "Command"}},
       .sections = {{.heading = "The curve", .blocks = {report::ChartBlock{{chart}}}}}});
}

void print_result(const Json& result) {
  const auto with_interval = [](const Json& number) {
    return fmt::format("{:.6g} ± {:.2g}", number.at("mean").get<double>(),
                       number.at("ci95").get<double>());
  };
  fmt::print("model         {}\n", result.at("model").get<std::string>());
  fmt::print("algorithm     {}, {}\n", result.at("algorithm").get<std::string>(),
             result.at("exploration").get<std::string>());
  fmt::print("episodes      {} in each of {} runs, {} steps in all\n",
             result.at("episodes").get<int64_t>(), result.at("runs").get<int64_t>(),
             result.at("steps").get<int64_t>());
  fmt::print("return        {} while learning, at the end\n", with_interval(result.at("return")));
  fmt::print("greedy        {} without exploring\n", with_interval(result.at("greedy")));
  fmt::print("time          {}\n", duration_text(result.at("seconds").get<double>()));
}

void run(const ModelOptions& source, Settings settings, const Common& common) {
  settings.learning.seed = common.seed;
  settings.learning.discount = source.load.discount;
  const planning::Learner& learner = planning::find_learner(settings.learning.algorithm);
  tell_options(settings.learning, learner.name, learner.parameters,
               settings.told->given_to(learner.name));
  if (settings.episodes < 1) {
    throw user_error("--episodes is {}, expected a positive number", settings.episodes);
  }
  const planning::Model model = source.read();
  LearningCurve curve(model, settings.learning, settings.episodes);
  std::optional<RunFolder> folder;
  if (!settings.run.empty()) {
    folder.emplace(RunFolder::open_or_create(settings.run, common.settings));
  }
  const auto began = std::chrono::steady_clock::now();
  learn(curve, folder ? &*folder : nullptr);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const Json result = result_of(curve, source, settings, seconds);
  if (folder && !folder->finished()) folder->finish(result);
  if (!settings.report.empty()) write_report(settings, common, result, curve);
  common.json ? print_json(result) : print_result(result);
}

}  // namespace

Verb entry_plan_learn() {
  return {.name = "plan learn",
          .summary = fmt::format("Learn a policy by trial and error: {}",
                                 fmt::join(names_in(planning::learners()), ", ")),
          .example =
              "agora plan learn cliffwalking --algorithm z-learning --episodes 500 "
              "--report learning.html",
          .outputs = {"report"},
          .declare = [](OptionList& app) {
            auto model = declare_model(app);
            auto settings = std::make_shared<Settings>();
            LearningOptions& learning = settings->learning;
            learning.exploration = "boltzmann";
            const std::vector<std::string> names = names_in(planning::learners());
            app.add("--algorithm", learning.algorithm, fmt::format("{}", fmt::join(names, ", ")))
                .offers(names, false)
                .shows_default();
            app.add("--exploration", learning.exploration,
                    "epsilon-greedy, or boltzmann: in proportion to Z or e^(beta Q)")
                .offers({"boltzmann", "epsilon-greedy"}, false)
                .shows_default();
            settings->told = std::make_shared<KindOptions>(app, kinds_of(planning::learners()));
            app.add("--episodes", settings->episodes, "Episodes of each run").shows_default();
            app.add("--run", settings->run,
                    "Folder to keep the run in; goes on from what it holds");
            app.add("--report", settings->report, "HTML file with the learning curve");
            return [=](const Common& common) { run(*model, *settings, common); };
          }};
}

}  // namespace agora::cli::kind_plan_learn
