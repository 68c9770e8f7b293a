#include <fmt/format.h>

#include <chrono>

#include "base/error.h"
#include "base/progress.h"
#include "base/run_folder.h"
#include "base/signals.h"
#include "base/statistics.h"
#include "cli/plan_model.h"
#include "cli/verb.h"
#include "planning/learning/learning_run.h"
#include "report/html.h"
#include "report/run_metrics.h"

namespace agora::cli {
namespace {

using planning::LearningOptions;
using planning::LearningRun;

constexpr int64_t kGreedyEpisodes = 100;

struct Settings {
  LearningOptions learning;
  int64_t episodes = 1000;
  std::string run, report;
};

// Mean return over windows of episodes, and its 95 % interval over the runs.
struct Curve {
  std::vector<double> episode, mean, half_width;

  Json to_json() const {
    return {{"episode", episode}, {"mean", mean}, {"half_width", half_width}};
  }
  static Curve from_json(const Json& json, const std::string& file) {
    using Numbers = std::vector<double>;
    return {json_member<Numbers>(json, "episode", file), json_member<Numbers>(json, "mean", file),
            json_member<Numbers>(json, "half_width", file)};
  }
};

int64_t window(int64_t episodes) { return std::clamp<int64_t>(episodes / 100, 1, 1000); }

// returns: (episodes, runs) to one mean per run
std::vector<double> means_per_run(const std::vector<double>& returns, size_t runs) {
  std::vector<double> means(runs);
  const double episodes = static_cast<double>(returns.size() / runs);
  for (size_t i = 0; i < returns.size(); ++i) means[i % runs] += returns[i] / episodes;
  return means;
}

void save(RunFolder& folder, const LearningRun& run, const Curve& curve) {
  std::vector<StoredTensor> tensors;
  const auto size = static_cast<int64_t>(run.table().size());
  tensors.push_back(StoredTensor::of<double>("table", {size}, run.table()));
  if (!run.visits().empty()) {
    tensors.push_back(StoredTensor::of<double>("visits", {size}, run.visits()));
  }
  folder.save(run.episode(), std::move(tensors),
              {{"steps", run.steps()}, {"curve", curve.to_json()}});
}

void restore(const RunFolder& folder, const Settings& settings, LearningRun& run, Curve& curve) {
  const auto checkpoint = folder.latest();
  if (!checkpoint) return;
  const std::string& file = checkpoint->tensors.path;
  curve = Curve::from_json(json_member<Json>(checkpoint->extra, "curve", file), file);
  const size_t windows = curve.episode.size();
  if (windows == 0 || curve.mean.size() != windows || curve.half_width.size() != windows ||
      curve.episode.back() != static_cast<double>(checkpoint->step) ||
      checkpoint->step > settings.episodes) {
    throw user_error("{}: expected a curve up to episode {}, of {} at most", file, checkpoint->step,
                     settings.episodes);
  }
  const StoredTensor* visits = checkpoint->tensors.find("visits");
  run.restore(checkpoint->tensors.at("table").values<double>(),
              visits == nullptr ? std::vector<double>() : visits->values<double>(),
              checkpoint->step, json_member<int64_t>(checkpoint->extra, "steps", file));
}

void learn(LearningRun& run, const Settings& settings, Curve& curve, RunFolder* folder) {
  Progress progress("learn", settings.episodes, "episodes", run.episode());
  std::optional<report::RunMetrics> metrics;
  if (folder != nullptr && run.episode() < settings.episodes) metrics.emplace(*folder);
  while (run.episode() < settings.episodes) {
    const int64_t count = std::min(window(settings.episodes), settings.episodes - run.episode());
    const Summary summary =
        summarise(means_per_run(run.advance(count), static_cast<size_t>(settings.learning.runs)));
    const double at = static_cast<double>(run.episode());
    curve.episode.push_back(at);
    curve.mean.push_back(summary.mean);
    curve.half_width.push_back(summary.half_width95);
    if (metrics) {
      metrics->record(run.episode(), "return", summary.mean);
      metrics->record(run.episode(), "return_ci95", summary.half_width95);
      if (folder->save_is_due() || run.episode() == settings.episodes) save(*folder, run, curve);
    }
    progress.update(run.episode(), fmt::format("return {:.4g}", summary.mean));
    if (run.episode() < settings.episodes) throw_if_stopped();
  }
}

Json result_of(const LearningRun& run, const ModelOptions& model, const Settings& settings,
               const Curve& curve, double seconds) {
  const Summary greedy = summarise(run.greedy_returns(kGreedyEpisodes));
  return {{"model", model.source},
          {"algorithm", settings.learning.algorithm},
          {"exploration", settings.learning.exploration},
          {"episodes", settings.episodes},
          {"runs", settings.learning.runs},
          {"steps", run.steps()},
          {"return", {{"mean", curve.mean.back()}, {"ci95", curve.half_width.back()}}},
          {"greedy", {{"mean", greedy.mean}, {"ci95", greedy.half_width95}}},
          {"seconds", seconds},
          {"run", settings.run.empty() ? Json(nullptr) : Json(settings.run)}};
}

void write_report(const Settings& settings, const Common& common, const Json& result,
                  const Curve& curve) {
  report::Series series{.name = settings.learning.algorithm, .x = curve.episode, .y = curve.mean};
  for (size_t i = 0; i < curve.mean.size(); ++i) {
    series.lower.push_back(curve.mean[i] - curve.half_width[i]);
    series.upper.push_back(curve.mean[i] + curve.half_width[i]);
  }
  report::LineChart chart{
      .title = "Return while learning",
      .caption = fmt::format("Means of {} episodes and {} runs; the band is the 95 % interval.",
                             window(settings.episodes), settings.learning.runs),
      .x = {.title = "episode"},
      .y = {.title = "return"},
      .series = {series}};
  std::vector<report::Fact> facts;
  for (const char* key : {"algorithm", "exploration", "episodes", "runs", "steps"}) {
    const Json& value = result.at(key);
    facts.push_back({key, value.is_string() ? value.get<std::string>() : value.dump()});
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
  if (settings.episodes < 1) {
    throw user_error("--episodes is {}, expected a positive number", settings.episodes);
  }
  const planning::Model model = source.read();
  LearningRun learning(model, settings.learning);
  std::optional<RunFolder> folder;
  Curve curve;
  if (!settings.run.empty()) {
    folder.emplace(RunFolder::open_or_create(settings.run, common.settings));
    restore(*folder, settings, learning, curve);
  }
  const auto began = std::chrono::steady_clock::now();
  learn(learning, settings, curve, folder ? &*folder : nullptr);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const Json result = result_of(learning, source, settings, curve, seconds);
  if (folder && !folder->finished()) folder->finish(result);
  if (!settings.report.empty()) write_report(settings, common, result, curve);
  common.json ? print_json(result) : print_result(result);
}

}  // namespace

Verb entry_plan_learn() {
  return {.name = "plan learn",
          .summary = "Learn a policy by trial and error: Z-learning, Q-learning, SARSA",
          .example =
              "agora plan learn cliffwalking --algorithm z-learning --episodes 500 "
              "--report learning.html",
          .outputs = {"report"},
          .declare = [](CLI::App& app) {
            auto model = declare_model(app);
            auto settings = std::make_shared<Settings>();
            LearningOptions& learning = settings->learning;
            learning.exploration = "boltzmann";
            std::string names;
            for (const planning::Learner& learner : planning::learners()) {
              names += (names.empty() ? "" : ", ") + learner.name;
            }
            app.add_option("--algorithm", learning.algorithm, names)->capture_default_str();
            app.add_option("--exploration", learning.exploration,
                           "epsilon-greedy, or boltzmann: in proportion to Z or e^(beta Q)")
                ->capture_default_str();
            app.add_option("--epsilon", learning.epsilon, "Share of random actions")
                ->capture_default_str();
            app.add_option("--alpha", learning.alpha, "Learning rate")->capture_default_str();
            app.add_option("--alpha-power", learning.alpha_power,
                           "Divide the rate by (visits)^POWER; 0 keeps it")
                ->capture_default_str();
            app.add_option("--beta", learning.beta, "Inverse temperature")->capture_default_str();
            app.add_option("--mu", learning.mu, "Chemical potential (default: -log d - .1)");
            app.add_option("--episodes", settings->episodes, "Episodes of each run")
                ->capture_default_str();
            app.add_option("--max-steps", learning.max_steps, "An episode is cut off after these")
                ->capture_default_str();
            app.add_option("--runs", learning.runs, "Independent runs")->capture_default_str();
            app.add_option("--run", settings->run,
                           "Folder to keep the run in; goes on from what it holds");
            app.add_option("--report", settings->report, "HTML file with the learning curve");
            return [=](const Common& common) { run(*model, *settings, common); };
          }};
}

}  // namespace agora::cli
