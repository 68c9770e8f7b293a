// Sequential classification: what DQN, its simple variants and a process of elimination earn on
// images they have learned from and on others.
#include "agents/algorithm.h"
#include "agents/classifier.h"
#include "agents/images.h"
#include "reproduce/stages.h"

namespace agora::reproduce {
namespace {

using namespace agents;

struct Size {
  int64_t images, tested;
  int64_t updates;  // of DQN and of the classifier
  int looks;
};
constexpr Size kQuick{2'000, 2'000, 600, 6}, kFull{10'000, 10'000, 6'000, 12};
constexpr int64_t kEnvironments = 16, kUpdates = 20;  // DQN plays a little while it learns
const std::string kEnvironment = "classify";

NetworkOptions network() { return {.kind = "conv", .width = 128, .channels = 8}; }

Json returns(const std::vector<float>& logits, const LabelledLevels& levels,
             const std::vector<std::pair<std::string, Guessing>>& policies) {
  Json all;
  for (const auto& [name, how] : policies) all[name] = mean_return(how, logits, levels);
  return all;
}

struct Images {
  LabelledLevels train, test;
};

// What policies made of one ranking earn on both.
Json look(const SavedPolicy& ranking, const Images& images, double passes,
          const std::vector<std::pair<std::string, Guessing>>& policies) {
  return {{"passes", passes},
          {"train", returns(logits_of(ranking, images.train), images.train, policies)},
          {"test", returns(logits_of(ranking, images.test), images.test, policies)}};
}

Json run(Task& task) {
  Stages stages(task);
  const Size size = task.quick() ? kQuick : kFull;
  const Arguments drawn{{"train", static_cast<double>(size.images)},
                        {"sample", static_cast<double>(task.seed)}};
  const Images images{
      labelled_levels(kEnvironment, drawn, Levels::range(0, size.images)),
      labelled_levels(kEnvironment, drawn, Levels::range(size.images, size.tested))};
  const ClassifierOptions supervised{
      .network = network(), .updates = size.updates, .seed = task.seed};
  const auto passes = [&](double updates) {
    return updates * static_cast<double>(supervised.batch) / static_cast<double>(size.images);
  };
  Json result;
  result["dqn"] = stages.stage("dqn", [&] {
    const auto learner =
        algorithm_named("dqn").make({.environment = kEnvironment,
                                     .environment_arguments = drawn,
                                     .levels = Levels::range(0, size.images),
                                     .steps = size.updates / kUpdates * kEnvironments,
                                     .environments = kEnvironments,
                                     .seed = task.seed,
                                     .network = network(),
                                     .arguments = {{"prefill", true},
                                                   {"every", 1.0},
                                                   {"updates", static_cast<double>(kUpdates)},
                                                   {"batch", static_cast<double>(supervised.batch)},
                                                   {"memory", static_cast<double>(size.images)}}});
    Json seen = stages.learn(
        *learner,
        {size.looks, [&](int64_t iteration) {
           return look(learner->policy(), images, passes(static_cast<double>(iteration * kUpdates)),
                       {{"dqn", Guessing::kSame}, {"uniform", Guessing::kUniformAfterFirst}});
         }});
    return Json{{"seen", std::move(seen)}};
  });
  result["classifier"] = stages.stage("classifier", [&] {
    Classifier learner(images.train, supervised);
    Json seen = stages.learn(learner, {size.looks, [&](int64_t update) {
                                         return look(learner.policy(), images,
                                                     passes(static_cast<double>(update)),
                                                     {{"adaptive", Guessing::kElimination},
                                                      {"memoryless", Guessing::kSquareRoot}});
                                       }});
    return Json{{"seen", std::move(seen)}};
  });
  return result;
}

Judgement judge(Scale, const std::vector<Json>&) { return {}; }

}  // namespace

Experiment entry_ch3_fashion_mnist() {
  return {.name = "ch3-fashion-mnist",
          .chapter = 3,
          .title = "Guessing the labels of images until one is right",
          .source = "ch. 3, A Sequential Classification RL Problem, both figures",
          .quick = {.seeds = {1}, .expected_seconds = 20, .words = "2,000 images"},
          .full = {.seeds = {1, 2, 3}, .expected_seconds = 800, .words = "10,000 images, 3 seeds"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce
