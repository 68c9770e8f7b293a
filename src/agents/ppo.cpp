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

constexpr double kLeastDeviation = 1e-8;
constexpr int64_t kLookedAt = 1024;  // samples whose probabilities are found at once
constexpr int64_t kGathered = 256;   // samples of a minibatch that one thread puts together at once

}  // namespace

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

PpoMember::PpoMember(const Space& space, const NetworkOptions& network, const PpoOptions& options,
                     const Pull& pull, bool masked, int64_t acting, int64_t samples)
    : PpoMember(std::make_unique<PpoLoss>(space, network, options, pull, masked), space, options,
                masked, acting, samples) {}

PpoMember::PpoMember(std::unique_ptr<PpoLoss> loss, const Space& space, const PpoOptions& options,
                     bool masked, int64_t acting, int64_t samples)
    : space_(space),
      options_(options),
      linked_(loss->is_linked()),
      masked_(masked),
      rows_(samples / options.minibatches),
      loss_(std::move(loss)),
      parameters_(loss_->names),
      variables_(loss_->graph),
      act_(loss_->graph, variables_, loss_->acting(), {.rows = acting}),
      learn_(loss_->graph, variables_, loss_->learning(), {.rows = rows_}) {
  CHECK(samples % options.minibatches == 0, "{} samples in {} minibatches", samples,
        options.minibatches);
  if (options.separate) {
    learn_value_.emplace(loss_->graph, variables_, loss_->learning_value(),
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
    if (is_of_policy(name)) names.push_back(name);
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
        loss_->graph, variables_,
        compute::Computation{.outputs = {{"logits", loss_->seen.logits}}, .updates = {}},
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

void PpoMember::set_moved(compute::Program& program, const Rollout& rollout,
                          std::span<const int32_t> chosen, Rng& shifts) {
  const auto bytes = static_cast<size_t>(space_.observation.bytes());
  shifts_.clear();
  for (size_t k = 0; k < chosen.size(); ++k) {
    shifts_.push_back(draw_shift(space_.observation, options_.invariance->shift, shifts));
  }
  moved_.resize(chosen.size() * bytes);
  gather(chosen, [&](size_t k, size_t from) {
    shift_picture(space_.observation, shifts_[k],
                  seen_in(rollout, space_, static_cast<int64_t>(from), 1),
                  std::span(moved_).subspan(k * bytes, bytes));
  });
  set_observations(program, space_.observation, moved_, "moved");
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
                          const Spread& advantages, Rng shifts) {
  set_seen(program, rollout, chosen);
  if (options_.invariance) set_moved(program, rollout, chosen, shifts);
  set_for_policy(program, rollout, others, chosen, advantages);
  if (!options_.separate) set_for_value(program, rollout, chosen);
  program.run();
  return {program.scalar("loss"),
          program.scalar("policy"),
          options_.separate ? 0.0 : program.scalar("value"),
          program.scalar("entropy"),
          linked_ ? program.scalar("penalty") : 0.0,
          options_.invariance ? program.scalar("difference") : 0.0};
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
  const int64_t batches = options_.epochs * options_.minibatches;
  const auto runs = static_cast<double>(batches);
  int64_t batch = 0;
  const auto learn = [&](std::span<const int32_t> chosen) {
    const Rng shifts(seed, stream(Stream::kShifts), static_cast<uint32_t>(iteration),
                     static_cast<uint32_t>(member * batches + batch++));
    const PpoNumbers one = run(learn_, rollout, others, chosen, advantages, shifts);
    total.loss += one.loss / runs;
    total.policy += one.policy / runs;
    total.value += one.value / runs;
    total.entropy += one.entropy / runs;
    total.penalty += one.penalty / runs;
    total.difference += one.difference / runs;
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
  compute::Program program(loss_->graph, variables_, loss_->slopes(), {.rows = rollout.samples()});
  if (options_.separate) set_for_value(program, rollout, all);
  PpoGradient found{run(program, rollout, others, all, spread_of(rollout.advantages),
                        Rng(0, stream(Stream::kShifts), 0, 0)),
                    {}};
  if (options_.separate) found.numbers.value = program.scalar("value");
  for (size_t k = 0; k < parameters_.size(); ++k) {
    const std::string output = "gradient." + parameters_[k];
    std::vector<float> values(static_cast<size_t>(program.count(output)));
    program.read(output, std::span<float>(values));
    const compute::Shape& shape = loss_->gradients[k].shape();
    found.tensors.push_back(StoredTensor::of<float>(parameters_[k], {shape.begin(), shape.end()},
                                                    std::span<const float>(values)));
  }
  return found;
}

}  // namespace agora::agents
