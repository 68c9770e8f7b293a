#include "agents/ppo.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "agents/streams.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "compute/backend.h"
#include "compute/gradients.h"
#include "nn/categorical.h"
#include "nn/optimisers.h"

namespace agora::agents {
namespace {

using compute::Graph;
using compute::kRows;
using compute::Tensor;

constexpr double kLeastDeviation = 1e-8;
constexpr double kLeastProbability = 1e-30;
constexpr int64_t kLookedAt = 1024;  // samples whose probabilities are found at once
const std::string kPolicy = "policy", kValue = "value";
constexpr int64_t kGathered = 256;  // samples of a minibatch that one thread puts together at once

}  // namespace

Tensor forbidden(Tensor mask) { return (1.0 - mask) * static_cast<double>(kForbidden); }

Tensor log_of_probabilities(Tensor probabilities) {
  return log(compute::maximum(probabilities, kLeastProbability));
}

std::span<const std::byte> seen_in(const Rollout& rollout, const Space& space, int64_t first,
                                   int64_t count) {
  const auto bytes = static_cast<size_t>(space.observation.bytes());
  return std::span(rollout.observations)
      .subspan(static_cast<size_t>(first) * bytes, static_cast<size_t>(count) * bytes);
}

namespace {

// Logits of samples `first` and on become probabilities.
void normalise(const Rollout& rollout, const Space& space, int64_t first, std::span<float> logits) {
  const auto actions = static_cast<size_t>(space.actions);
  if (!rollout.masks.empty()) {
    forbid(std::span(rollout.masks).subspan(static_cast<size_t>(first) * actions, logits.size()),
           logits);
  }
  for (size_t k = 0; k < logits.size(); k += actions) {
    const auto row = logits.subspan(k, actions);
    const float largest = *std::max_element(row.begin(), row.end());
    float sum = 0;
    for (float& each : row) sum += each = std::exp(each - largest);
    for (float& each : row) each /= sum;
  }
}

}  // namespace

void rollout_probabilities(
    const Rollout& rollout, const Space& space, int64_t rows,
    const std::function<void(int64_t first, std::span<float> logits)>& logits_of,
    std::span<float> out) {
  const auto actions = static_cast<size_t>(space.actions);
  for (int64_t first = 0; first < rollout.samples(); first += rows) {
    const auto count = static_cast<size_t>(std::min(rows, rollout.samples() - first));
    const auto logits = out.subspan(static_cast<size_t>(first) * actions, count * actions);
    logits_of(first, logits);
    normalise(rollout, space, first, logits);
  }
}

struct PpoMember::Recorded {
  Recorded(const Space& space, const NetworkOptions& network, const PpoOptions& options,
           const Pull& pull, bool masked) {
    const Tensor observation = observation_input(graph, space.observation);
    seen = actor_critic(graph, kPolicy, observation, space.actions, network);
    Tensor logits = seen.logits;
    if (masked) {
      logits = logits + forbidden(graph.byte_input("mask", {kRows, space.actions}));
    }
    const Tensor action = graph.index_input("action", {kRows});
    const Tensor old_log_prob = graph.input("log_prob", {kRows});
    const Tensor old_value = graph.input("old_value", {kRows});
    const Tensor advantage = graph.input("advantage", {kRows});
    const Tensor target = graph.input("return", {kRows});

    // What the critic of a policy's features says is then only its part of an action's advantage.
    Tensor said;
    if (options.separate) {
      const Tensor of_action =
          graph.parameter("advantage.action", {space.actions}, nn::filled(0.0));
      said = seen.value + gather(of_action, action);
      seen.value = state_value(graph, kValue, observation, network);
    }

    const Tensor ratio = exp(nn::categorical_log_prob(logits, action) - old_log_prob);
    const Tensor clipped = compute::clip(ratio, 1 - options.clip, 1 + options.clip);
    policy = -mean(compute::minimum(ratio * advantage, clipped * advantage));
    const Tensor near =
        old_value + compute::clip(seen.value - old_value, -options.clip, options.clip);
    value = 0.5 * mean(compute::maximum(square(seen.value - target), square(near - target)));
    entropy = mean(nn::categorical_entropy(logits));
    const Tensor second = options.separate
                              ? options.separate->advantage * mean(square(said - advantage))
                              : options.value * value;
    loss = policy + second - options.entropy * entropy;
    if (pull.penalty > 0) {
      const Tensor others = graph.input("others", {kRows, space.actions});
      Tensor target_policy = others;
      if (pull.link) {
        const Tensor own = compute::softmax(logits, -1);
        target_policy = *pull.link == Link::kMax ? compute::maximum(others, own) : others + own;
      }
      disagreement = mean(
          nn::categorical_kl(logits, compute::stop_gradient(log_of_probabilities(target_policy))));
      loss = loss + pull.penalty * disagreement;
    }
    loss = loss.named("loss");
    const nn::Adam adam{.rate = nn::constant_rate(options.rate), .epsilon = options.adam_epsilon};
    const auto learn = [&](const char* name, Tensor from, const compute::Tensors& parameters) {
      const compute::Tensors slopes = compute::gradients(from, parameters);
      for (const Tensor each : parameters) names.push_back(each.node().name);
      gradients.insert(gradients.end(), slopes.begin(), slopes.end());
      return adam(name, parameters, nn::clip_by_global_norm(slopes, options.max_norm));
    };
    compute::Tensors parameters, of_value;
    for (const Tensor each : graph.parameters()) {
      (each.node().name.starts_with(kValue + ".") ? of_value : parameters).push_back(each);
    }
    updates = learn("adam", loss, parameters);
    if (options.separate) value_updates = learn("value_adam", value, of_value);
  }

  compute::Computation losses() const {
    compute::Computation task{.outputs = {{"loss", loss}, {"policy", policy}, {"entropy", entropy}},
                              .updates = {}};
    if (value_updates.empty()) task.outputs.push_back({"value", value});
    if (disagreement.graph != nullptr) task.outputs.push_back({"penalty", disagreement});
    return task;
  }

  compute::Computation learning() const {
    compute::Computation task = losses();
    task.updates = updates;
    return task;
  }

  compute::Computation learning_value() const {
    return {.outputs = {{"value", value}}, .updates = value_updates};
  }

  compute::Computation slopes() const {
    compute::Computation task = losses();
    if (!value_updates.empty()) task.outputs.push_back({"value", value});
    for (size_t k = 0; k < names.size(); ++k) {
      task.outputs.push_back({"gradient." + names[k], gradients[k]});
    }
    return task;
  }

  Graph graph;
  Heads seen;
  Tensor policy, value, entropy, loss, disagreement;
  compute::Tensors gradients;          // of `names`
  nn::Updates updates, value_updates;  // the second where a value has a network of its own
  std::vector<std::string> names;
};

PpoMember::PpoMember(const Space& space, const NetworkOptions& network, const PpoOptions& options,
                     const Pull& pull, bool masked, int64_t acting, int64_t samples)
    : PpoMember(std::make_unique<Recorded>(space, network, options, pull, masked), space, options,
                masked, acting, samples) {}

PpoMember::PpoMember(std::unique_ptr<Recorded> recorded, const Space& space,
                     const PpoOptions& options, bool masked, int64_t acting, int64_t samples)
    : space_(space),
      options_(options),
      linked_(recorded->disagreement.graph != nullptr),
      masked_(masked),
      rows_(samples / options.minibatches),
      recorded_(std::move(recorded)),
      parameters_(recorded_->names),
      variables_(recorded_->graph),
      act_(recorded_->graph, variables_,
           {.outputs = {{"logits", recorded_->seen.logits}, {"value", recorded_->seen.value}},
            .updates = {}},
           {.rows = acting}),
      learn_(recorded_->graph, variables_, recorded_->learning(), {.rows = rows_}) {
  CHECK(samples % options.minibatches == 0, "{} samples in {} minibatches", samples,
        options.minibatches);
  if (options.separate) {
    learn_value_.emplace(recorded_->graph, variables_, recorded_->learning_value(),
                         compute::CompileOptions{.rows = rows_});
  }
  if (variables_.device() != compute::Device::kCpu &&
      space.observation.type == ObservationSpace::Type::kByte) {
    frames_.emplace(samples, space.observation.bytes(), variables_.device());
  }
}

PpoMember::~PpoMember() = default;

std::vector<std::string> PpoMember::policy_names() const {
  std::vector<std::string> names;
  for (const std::string& name : parameters_) {
    if (name.starts_with(kPolicy + ".")) names.push_back(name);
  }
  return names;
}

void PpoMember::initialise(uint64_t seed, int64_t member) {
  variables_.initialize(seed, stream(Stream::kWeights) + static_cast<uint32_t>(member));
}

void PpoMember::begins(const Rollout& rollout) {
  const compute::Backend& device = compute::backend(variables_.device());
  if (kept_ != &rollout && frames_ && device.pin != nullptr) {
    pinned_ = device.pin(rollout.observations.data(), std::ssize(rollout.observations));
  }
  kept_ = &rollout;
  frame_ = 0;
}

bool PpoMember::has_frames(const Rollout& rollout) const {
  return frames_ && kept_ == &rollout && frame_ == rollout.samples();
}

void PpoMember::act(std::span<const std::byte> observations, int64_t rows, std::span<float> logits,
                    std::span<float> values) {
  act_in({}, observations.first(rows * space_.observation.bytes()), logits, values);
}

void PpoMember::start(std::span<const std::byte> observations, int64_t rows) {
  if (!frames_) return Actor::start(observations, rows);
  CHECK(frame_ + rows <= frames_->rows(), "{} frames after {}", rows, frame_);
  {
    const Stopwatch watch(profile_.upload);
    frames_->write(frame_, std::span(reinterpret_cast<const uint8_t*>(observations.data()),
                                     observations.size()));
  }
  const Stopwatch watch(profile_.inference);
  acting_.resize(static_cast<size_t>(rows));
  std::iota(acting_.begin(), acting_.end(), static_cast<int32_t>(frame_));
  act_.set_rows("observation", *frames_, acting_);
  act_.run(compute::Check::kNothing);
  frame_ += rows;
}

void PpoMember::finish(std::span<float> logits, std::span<float> values) {
  if (!frames_) return Actor::finish(logits, values);
  const Stopwatch watch(profile_.inference);
  act_.read("logits", logits);
  act_.read("value", values);
}

void PpoMember::value(std::span<const std::byte> observations, int64_t rows,
                      std::span<float> values) {
  logits_.resize(static_cast<size_t>(rows) * space_.actions);
  act_in({}, observations.first(rows * space_.observation.bytes()), logits_, values);
}

void PpoMember::act_in(std::span<const float> contexts, std::span<const std::byte> observations,
                       std::span<float> logits, std::span<float> values) {
  set_observations(act_, space_.observation, observations);
  if (!contexts.empty()) act_.set("context", contexts);
  const Stopwatch watch(profile_.inference);
  act_.run(compute::Check::kNothing);
  act_.read("logits", logits);
  act_.read("value", values);
}

void PpoMember::probabilities(const Rollout& rollout, const PpoMember& player,
                              std::span<float> out) {
  if (!player.has_frames(rollout)) {
    std::vector<float> values(static_cast<size_t>(rollout.count));
    return rollout_probabilities(
        rollout, space_, rollout.count,
        [&](int64_t first, std::span<float> logits) {
          act_in({}, seen_in(rollout, space_, first, rollout.count), logits, values);
        },
        out);
  }
  if (look_ == nullptr) {
    look_ = std::make_unique<compute::Program>(
        recorded_->graph, variables_,
        compute::Computation{.outputs = {{"logits", recorded_->seen.logits}}, .updates = {}},
        compute::CompileOptions{.rows = std::min(rollout.samples(), kLookedAt)});
  }
  // The device looks at some samples while those before are put in order.
  std::vector<int32_t> chosen;
  std::span<float> before;
  for (int64_t first = 0; first < rollout.samples(); first += kLookedAt) {
    chosen.resize(static_cast<size_t>(std::min(kLookedAt, rollout.samples() - first)));
    std::iota(chosen.begin(), chosen.end(), static_cast<int32_t>(first));
    look_->set_rows("observation", *player.frames_, chosen);
    look_->run(compute::Check::kNothing);
    if (!before.empty()) normalise(rollout, space_, first - kLookedAt, before);
    before = out.subspan(static_cast<size_t>(first * space_.actions),
                         chosen.size() * static_cast<size_t>(space_.actions));
    look_->read("logits", before);
  }
  const int64_t last = (rollout.samples() - 1) / kLookedAt * kLookedAt;
  normalise(rollout, space_, last, before);
}

PpoMember::Spread PpoMember::spread_of(std::span<const float> advantages) {
  const auto samples = static_cast<double>(advantages.size());
  double sum = 0, square_sum = 0;
  for (const float each : advantages) sum += each;
  const double centre = sum / samples;
  for (const float each : advantages) square_sum += (each - centre) * (each - centre);
  return {centre, std::sqrt(square_sum / std::max<double>(1, samples - 1)) + kLeastDeviation};
}

void each_minibatch(const PpoOptions& options, int64_t samples, Stream purpose, uint64_t seed,
                    int64_t member, int64_t iteration,
                    const std::function<void(std::span<const int32_t> chosen)>& learn) {
  const auto rows = static_cast<size_t>(samples / options.minibatches);
  std::vector<int32_t> order(static_cast<size_t>(samples));
  for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    std::iota(order.begin(), order.end(), 0);
    Rng rng(seed, stream(purpose), static_cast<uint32_t>(iteration),
            static_cast<uint32_t>(member * options.epochs + epoch));
    rng.shuffle(order);
    for (size_t batch = 0; batch < static_cast<size_t>(options.minibatches); ++batch) {
      learn(std::span<const int32_t>(order).subspan(batch * rows, rows));
    }
  }
}

void gather(std::span<const int32_t> chosen,
            const std::function<void(size_t k, size_t from)>& put) {
  const auto rows = static_cast<int64_t>(chosen.size());
  const int64_t parts = (rows + kGathered - 1) / kGathered;
  default_pool().run(parts, [&](int64_t part) {
    const Range range = part_range(rows, part, parts);
    for (auto k = static_cast<size_t>(range.begin); k < static_cast<size_t>(range.end); ++k) {
      put(k, static_cast<size_t>(chosen[k]));
    }
  });
}

void PpoMember::set_seen(compute::Program& program, const Rollout& rollout,
                         std::span<const int32_t> chosen) {
  if (has_frames(rollout)) {
    program.set_rows("observation", *frames_, chosen);
  } else {
    set_observations(program, space_.observation, rollout.observations, chosen, observations_);
  }
}

void PpoMember::set_for_policy(compute::Program& program, const Rollout& rollout,
                               std::span<const float> others, std::span<const int32_t> chosen,
                               const Spread& advantages) {
  CHECK(linked_ == !others.empty(), "a member {} a penalty", linked_ ? "with" : "without");
  const auto actions = static_cast<size_t>(space_.actions);
  const size_t rows = chosen.size();
  const size_t context = rollout.contexts.size() / static_cast<size_t>(rollout.samples());
  actions_.resize(rows);
  for (auto* each : {&log_probs_, &advantages_}) each->resize(rows);
  if (linked_) others_.resize(rows * actions);
  if (masked_) masks_.resize(rows * actions);
  contexts_.resize(rows * context);
  gather(chosen, [&](size_t k, size_t from) {
    actions_[k] = rollout.actions[from];
    log_probs_[k] = rollout.log_probs[from];
    advantages_[k] =
        static_cast<float>((rollout.advantages[from] - advantages.centre) / advantages.deviation);
    if (masked_) std::memcpy(&masks_[k * actions], &rollout.masks[from * actions], actions);
    std::copy_n(rollout.contexts.begin() + static_cast<int64_t>(from * context), context,
                contexts_.begin() + static_cast<int64_t>(k * context));
    if (linked_) {
      std::memcpy(&others_[k * actions], &others[from * actions], actions * sizeof(float));
    }
  });
  if (masked_) program.set("mask", std::span<const uint8_t>(masks_));
  program.set("action", std::span<const int32_t>(actions_));
  program.set("log_prob", std::span<const float>(log_probs_));
  program.set("advantage", std::span<const float>(advantages_));
  if (context > 0) program.set("context", std::span<const float>(contexts_));
  if (linked_) program.set("others", std::span<const float>(others_));
}

void PpoMember::set_for_value(compute::Program& program, const Rollout& rollout,
                              std::span<const int32_t> chosen) {
  for (auto* each : {&values_, &returns_}) each->resize(chosen.size());
  gather(chosen, [&](size_t k, size_t from) {
    values_[k] = rollout.values[from];
    returns_[k] = rollout.returns[from];
  });
  program.set("old_value", std::span<const float>(values_));
  program.set("return", std::span<const float>(returns_));
}

PpoNumbers PpoMember::run(compute::Program& program, const Rollout& rollout,
                          std::span<const float> others, std::span<const int32_t> chosen,
                          const Spread& advantages) {
  set_seen(program, rollout, chosen);
  set_for_policy(program, rollout, others, chosen, advantages);
  if (!options_.separate) set_for_value(program, rollout, chosen);
  program.run();
  return {program.scalar("loss"), program.scalar("policy"),
          options_.separate ? 0.0 : program.scalar("value"), program.scalar("entropy"),
          linked_ ? program.scalar("penalty") : 0.0};
}

PpoNumbers PpoMember::update(const Rollout& rollout, std::span<const float> others, uint64_t seed,
                             int64_t member, int64_t iteration) {
  const Stopwatch watch(profile_.learning);
  const Spread advantages = spread_of(rollout.advantages);
  if (frames_ && !has_frames(rollout) && rollout.samples() <= frames_->rows()) {
    frames_->write(0, std::span(reinterpret_cast<const uint8_t*>(rollout.observations.data()),
                                rollout.observations.size()));
    kept_ = &rollout;
    frame_ = rollout.samples();
  }
  PpoNumbers total;
  const double runs = static_cast<double>(options_.epochs * options_.minibatches);
  const auto learn = [&](std::span<const int32_t> chosen) {
    const PpoNumbers one = run(learn_, rollout, others, chosen, advantages);
    total.loss += one.loss / runs;
    total.policy += one.policy / runs;
    total.value += one.value / runs;
    total.entropy += one.entropy / runs;
    total.penalty += one.penalty / runs;
  };
  each_minibatch(options_, rollout.samples(), Stream::kMinibatches, seed, member, iteration, learn);
  if (options_.separate) total.value = learn_value(rollout, seed, member, iteration);
  return total;
}

double PpoMember::learn_value(const Rollout& rollout, uint64_t seed, int64_t member,
                              int64_t iteration) {
  PpoOptions how = options_;
  how.epochs = options_.separate->epochs;
  const double runs = static_cast<double>(how.epochs * how.minibatches);
  double total = 0;
  each_minibatch(how, rollout.samples(), Stream::kValueMinibatches, seed, member, iteration,
                 [&](std::span<const int32_t> chosen) {
                   set_seen(*learn_value_, rollout, chosen);
                   set_for_value(*learn_value_, rollout, chosen);
                   learn_value_->run();
                   total += learn_value_->scalar("value") / runs;
                 });
  return total;
}

PpoGradient PpoMember::gradient(const Rollout& rollout, std::span<const float> others) {
  std::vector<int32_t> all(static_cast<size_t>(rollout.samples()));
  std::iota(all.begin(), all.end(), 0);
  compute::Program program(recorded_->graph, variables_, recorded_->slopes(),
                           {.rows = rollout.samples()});
  if (options_.separate) set_for_value(program, rollout, all);
  PpoGradient found{run(program, rollout, others, all, spread_of(rollout.advantages)), {}};
  if (options_.separate) found.numbers.value = program.scalar("value");
  for (size_t k = 0; k < parameters_.size(); ++k) {
    const std::string output = "gradient." + parameters_[k];
    std::vector<float> values(static_cast<size_t>(program.count(output)));
    program.read(output, std::span<float>(values));
    const compute::Shape& shape = recorded_->gradients[k].shape();
    found.tensors.push_back(StoredTensor::of<float>(parameters_[k], {shape.begin(), shape.end()},
                                                    std::span<const float>(values)));
  }
  return found;
}

}  // namespace agora::agents
