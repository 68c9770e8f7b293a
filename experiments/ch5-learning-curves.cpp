// Revenue, regret and P* of RegretNet and ALGnet on setting A while they learn.
#include "auctions/audit/audit.h"
#include "reproduce/auction_stages.h"

namespace agora::reproduce::kind_ch5_learning_curves {
namespace {

using namespace auctions;

constexpr int kPoints = 20;
constexpr double kLearned = 0.5;     // of P*; the optimum is .5492
constexpr int64_t kEpoch = 640'000;  // profiles: both methods are put on one scale
const std::pair<std::string, std::string> kNetworks[] = {{"regretnet", "RegretNet"},
                                                         {"algnet", "ALGnet"}};

Json run(Task& task) {
  Stages stages(task);
  const Setting market = setting("A");
  Json result = Json::object();
  for (const auto& named : kNetworks) {
    const std::string& network = named.first;
    result[network] = stages.stage(network, [&] {
      const Recipe recipe = recipe_for(task, network, market, network == "algnet" ? 300 : 2'000);
      const auto look = [&](int64_t iteration, const Mechanism& mechanism, TrainingNumbers) {
        const AuditOptions options{.regret_profiles = task.quick() ? 60 : 500, .seed = task.seed};
        const double revenue = evaluate(mechanism, market, {.seed = task.seed}).revenue;
        const double regret = strong_regret(mechanism, market, options).mean;
        return Json{{"epoch", static_cast<double>(iteration * recipe.batch) / kEpoch},
                    {"revenue", revenue},
                    {"regret", regret},
                    {"p_star", p_star(revenue, regret)}};
      };
      auto trained = train(stages, {network, market, recipe, task.seed}, {kPoints, look, {}});
      return Json{{"seen", std::move(trained.seen)}};
    });
  }
  return result;
}

// From the look on after which P* stays above kLearned; twice the run if that never comes.
double epochs_to_learn(const Json& result, const std::string& network) {
  const Json& seen = result.at(network).at("seen");
  double epochs = 2 * seen.back().at("epoch").get<double>();
  for (size_t k = seen.size(); k-- > 0 && seen[k].at("p_star").get<double>() >= kLearned;) {
    epochs = seen[k].at("epoch").get<double>();
  }
  return epochs;
}

// Over the first quarter of the looks.
double early_regret(const Json& result, const std::string& network) {
  double sum = 0;
  for (size_t k = 0; k < kPoints / 4; ++k) {
    sum += result.at(network).at("seen").at(k).at("regret").get<double>();
  }
  return sum / (kPoints / 4);
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement outcome;
  for (const auto& [network, words] : kNetworks) {
    const JsonPath last = JsonPath("/" + network + "/seen") / static_cast<size_t>(kPoints - 1);
    const bool ours = network == "algnet";
    outcome.findings.push_back(
        finding(scale, words + ": revenue at the end", ours ? "0.555 ± 0.0019" : "0.554",
                numbers_at(results, last / "revenue"), between(0.54, 0.565), between(0.46, 0.6)));
    outcome.findings.push_back(finding(
        scale, words + ": regret at the end, strong test", ours ? "0.00055 ± 0.00014" : "< 0.001",
        numbers_at(results, last / "regret"), at_most(2e-3), at_most(0.004)));
    outcome.findings.push_back(finding(scale, words + ": P* at the end", "near 0.55",
                                       numbers_at(results, last / "p_star"), at_least(0.5),
                                       at_least(0.41)));
  }
  std::vector<double> sooner, regret;
  for (const Json& result : results) {
    sooner.push_back(epochs_to_learn(result, "regretnet") - epochs_to_learn(result, "algnet"));
    regret.push_back(early_regret(result, "regretnet") / early_regret(result, "algnet"));
  }
  const std::string faster =
      fmt::format("epochs until P* stays above {}: RegretNet's less ALGnet's", kLearned);
  const std::string early = "mean regret early on: RegretNet's / ALGnet's";
  if (scale == Scale::kQuick) {
    const std::string why = "so few iterations leave both in their early stages";
    outcome.findings.push_back(not_judged(faster, "> 0", {}, why));
    outcome.findings.push_back(not_judged(early, "> 1", regret, why));
  } else {
    outcome.findings.push_back(finding(faster, "> 0", sooner, at_least(0.01)));
    outcome.findings.push_back(finding(early, "> 1", regret, at_least(1.05)));
  }
  const std::pair<std::string, std::string> shown[] = {
      {"revenue", "Revenue"}, {"regret", "Regret, strong test"}, {"p_star", "P*"}};
  for (const auto& [key, words] : shown) {
    report::LineChart chart{.title = words + ", setting A",
                            .x = {.title = "epochs of 640,000 profiles"},
                            .y = {.title = words, .log = key == "regret"}};
    for (const auto& [network, name] : kNetworks) {
      chart.series.push_back(seen_curve(name, results, network, "epoch", key));
    }
    if (key != "regret") {
      double end = 0;
      for (const report::Series& each : chart.series) end = std::max(end, each.x.back());
      chart.series.push_back(
          {.name = "optimum", .x = {0, end}, .y = {0.549201, 0.549201}, .dashed = true});
    }
    outcome.charts.emplace_back(std::move(chart));
  }
  outcome.remark =
      "The thesis prints the figures; the numbers beside ours are those of its tables for the same "
      "setting. It says that RegretNet overestimates the revenue early on at the expense of a "
      "higher regret, and that ALGnet learns faster. Regret is that of the strong test on fresh "
      "profiles, "
      "not what the training sees.";
  return outcome;
}

}  // namespace

Experiment entry_ch5_learning_curves() {
  return {.name = "ch5-learning-curves",
          .chapter = 5,
          .title = "RegretNet and ALGnet learn setting A: revenue, regret and P*",
          .source = "ch. 5, Auctions with known and unknown optima, figure (a)-(c)",
          .quick = {.seeds = {1}, .expected_seconds = 20, .words = "300 and 2,000 iterations"},
          .full = {.seeds = {1}, .expected_seconds = 900, .words = "the shipped recipes"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch5_learning_curves
