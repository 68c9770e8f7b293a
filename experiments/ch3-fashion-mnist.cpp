// Sequential classification: what DQN, its simple variants and a process of elimination earn on
// images they have learned from and on others.
#include <map>

#include "agents/algorithm.h"
#include "agents/classifier.h"
#include "agents/images.h"
#include "reproduce/stages.h"

namespace agora::reproduce::kind_ch3_fashion_mnist {
namespace {

using namespace agents;

struct Size {
  int64_t images, tested;
  int64_t updates, classifier_updates;  // of DQN's networks, and of the classifier
  int looks;
};
constexpr Size kQuick{1'000, 2'000, 2'000, 1'000, 5}, kFull{10'000, 10'000, 25'600, 6'000, 10};
constexpr int64_t kEnvironments = 16, kUpdates = 20;  // DQN plays a step in each, then learns
constexpr double kRate = 2e-3, kBatch = 64;
const std::string kEnvironment = "classify";

NetworkOptions network() { return {.kind = "conv", .width = 128, .channels = 8}; }

// What is made of a ranking of labels, by its name in results.
using Policies = std::vector<std::pair<std::string, Guessing>>;
const Policies& of_dqn() {
  static const Policies all{{"dqn", Guessing::kSame}, {"uniform", Guessing::kUniformAfterFirst}};
  return all;
}
const Policies& of_classifier() {
  static const Policies all{{"adaptive", Guessing::kElimination},
                            {"memoryless", Guessing::kSquareRoot}};
  return all;
}

Json returns(const SavedPolicy& ranking, const LabelledLevels& levels, const Policies& policies) {
  const std::vector<float> logits = logits_of(ranking, levels);
  Json all;
  for (const auto& [name, how] : policies) all[name] = mean_return(how, logits, levels);
  return all;
}

struct Images {
  LabelledLevels train, test;
};

Json look(const SavedPolicy& ranking, const Images& images, int64_t updates,
          const Policies& policies) {
  return {{"updates", updates},
          {"train", returns(ranking, images.train, policies)},
          {"test", returns(ranking, images.test, policies)}};
}

Json run(Task& task) {
  Stages stages(task);
  const Size size = task.quick() ? kQuick : kFull;
  const Arguments drawn{{"train", static_cast<double>(size.images)},
                        {"sample", static_cast<double>(task.seed)}};
  const Levels train = Levels::range(0, size.images);
  const Images images{
      labelled_levels(kEnvironment, drawn, train),
      labelled_levels(kEnvironment, drawn, Levels::range(size.images, size.tested))};
  Json result;
  result["dqn"] = stages.stage("dqn", [&] {
    const auto learner =
        algorithm_named("dqn").make({.environment = kEnvironment,
                                     .environment_arguments = drawn,
                                     .levels = train,
                                     .steps = size.updates / kUpdates * kEnvironments,
                                     .environments = kEnvironments,
                                     .seed = task.seed,
                                     .network = network(),
                                     .arguments = {{"prefill", true},
                                                   {"every", 1.0},
                                                   {"updates", static_cast<double>(kUpdates)},
                                                   {"batch", kBatch},
                                                   {"rate", kRate}}});
    const auto seen = [&](int64_t iteration) {
      return look(learner->policy(), images, iteration * kUpdates, of_dqn());
    };
    return Json{{"seen", stages.learn(*learner, {size.looks, seen})}};
  });
  result["classifier"] = stages.stage("classifier", [&] {
    Classifier learner(images.train, {.network = network(),
                                      .updates = size.classifier_updates,
                                      .batch = static_cast<int64_t>(kBatch),
                                      .rate = kRate,
                                      .seed = task.seed});
    const auto seen = [&](int64_t update) {
      return look(learner.policy(), images, update, of_classifier());
    };
    return Json{{"seen", stages.learn(learner, {size.looks, seen})}};
  });
  return result;
}

// The returns of one policy at the end of every seed.
std::vector<double> at_the_end(const std::vector<Json>& results, const std::string& stage,
                               const std::string& part, const std::string& policy) {
  std::vector<double> all;
  for (const Json& result : results) {
    all.push_back(result.at(stage).at("seen").back().at(part).at(policy).get<double>());
  }
  return all;
}

std::vector<double> above(std::vector<double> more, const std::vector<double>& less) {
  for (size_t k = 0; k < more.size(); ++k) more[k] -= less[k];
  return more;
}

struct Drawn {
  std::string stage, policy, words;
};
const std::vector<Drawn>& drawn_policies() {
  static const std::vector<Drawn> all{{"dqn", "dqn", "DQN"},
                                      {"dqn", "uniform", "uniform after step 1"},
                                      {"classifier", "adaptive", "adaptive"},
                                      {"classifier", "memoryless", "memoryless, √p"}};
  return all;
}

report::LineChart chart(const std::vector<Json>& results, const std::string& part,
                        const std::string& images) {
  report::LineChart chart{
      .title = "Sequential classification of FashionMNIST, " + images,
      .caption = "Expected return of an episode of 20 guesses at most; mean over the seeds.",
      .x = {.title = "updates"},
      .y = {.title = "return", .high = 0.0}};
  for (const Drawn& each : drawn_policies()) {
    report::Series series{.name = each.words, .x = {}, .y = {}, .markers = true};
    series.dashed = each.policy == "memoryless";  // not in the thesis's figure
    const size_t points = results.front().at(each.stage).at("seen").size();
    for (size_t k = 0; k < points; ++k) {
      const JsonPath at = JsonPath("/" + each.stage + "/seen") / k;
      series.x.push_back(mean_at(results, at / "updates"));
      series.y.push_back(mean_at(results, at / part / each.policy));
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement outcome;
  const auto add = [&](Finding found) { outcome.findings.push_back(std::move(found)); };
  std::map<std::string, std::vector<double>> test;
  for (const Drawn& each : drawn_policies()) {
    test[each.policy] = at_the_end(results, each.stage, "test", each.policy);
    const std::string what = each.words + ": return on training images";
    const auto ours = at_the_end(results, each.stage, "train", each.policy);
    if (each.policy == "memoryless") {
      add(finding(what, "", ours, at_least(-1)));
    } else {
      add(finding(scale, what, "about 0", ours, at_least(-0.5), at_least(-1)));
    }
  }
  // A wrong first guess costs 20, about 8.8 and at most 9: the images decide how many there are.
  add(finding(scale, "DQN: return on test images", "lowest", test["dqn"], between(-3.2, -1.8),
              between(-6, -2)));
  add(finding("test images: uniform after step 1 above DQN by", "> 0",
              above(test["uniform"], test["dqn"]), at_least(0.8)));
  add(finding("test images: adaptive above uniform after step 1 by", "> 0",
              above(test["adaptive"], test["uniform"]), at_least(0.5)));
  add(finding("test images: memoryless √p above DQN by", "", above(test["memoryless"], test["dqn"]),
              at_least(0.3)));
  add(finding("test images: adaptive above memoryless √p by", "",
              above(test["adaptive"], test["memoryless"]), at_least(0.1)));
  outcome.charts.emplace_back(chart(results, "train", "training images"));
  outcome.charts.emplace_back(chart(results, "test", "test images"));
  outcome.remark =
      "The thesis prints the figures without numbers. Returns are expectations over what a policy "
      "draws, exact for every image. The thesis's network is made for 84x84 pixels; ours has two "
      "3x3 convolutions of 8 and 16 channels with max-pooling and a dense layer of 128. √p is the "
      "best policy without memory for a classifier that knows how sure it may be; this one learned "
      "until it made hardly a mistake, and is surer of unseen ones than it may be.";
  return outcome;
}

}  // namespace

Experiment entry_ch3_fashion_mnist() {
  return {.name = "ch3-fashion-mnist",
          .chapter = 3,
          .title = "Guessing the labels of images until one is right",
          .source = "ch. 3, A Sequential Classification RL Problem, both figures",
          .quick = {.seeds = {1}, .expected_seconds = 20, .words = "1,000 images"},
          .full = {.seeds = {1, 2, 3}, .expected_seconds = 650, .words = "10,000 images, 3 seeds"},
          .missing = [](Scale) { return fashion_mnist_missing(); },
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch3_fashion_mnist
