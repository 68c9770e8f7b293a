#include "agents/context.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "agents/streams.h"
#include "base/error.h"
#include "compute/gradients.h"
#include "nn/categorical.h"
#include "nn/layers.h"
#include "nn/optimisers.h"

namespace agora::agents {

using compute::kRows;
using compute::Tensor;

struct ContextEncoder::Recorded {
  Recorded(const Space& space, const EncoderOptions& options, bool learns) {
    const Trunk eye(graph, "encoder.trunk", space.observation.shape, options.network);
    const Tensor features = eye(observation_input(graph, space.observation));
    const nn::GruCell memory(graph, "encoder.memory", features.size(-1), options.hidden);
    const nn::Dense level(graph, "encoder.level", options.hidden, options.levels);
    after = memory(features, graph.input("before", {kRows, options.hidden}));
    guess = level(after);
    const compute::Tensors parameters = graph.parameters();
    for (const Tensor each : parameters) names.push_back(each.node().name);
    if (!learns) return;
    // The same along a chunk; `kept` is 0 where a step begins an episode.
    Tensor context = graph.input("first", {kRows, options.hidden}), told;
    for (int64_t t = 0; t < options.chunk; ++t) {
      const std::string at = std::to_string(t);
      context = context * graph.input("kept" + at, {kRows, 1});
      context =
          memory(eye(observation_input(graph, space.observation, "observation" + at)), context);
      const Tensor now =
          nn::categorical_log_prob(level(context), graph.index_input("level" + at, {kRows}));
      told = t == 0 ? now : told + now;
    }
    loss = (mean(told) * (-1.0 / static_cast<double>(options.chunk))).named("loss");
    const nn::Adam adam{.rate = nn::constant_rate(options.rate)};
    updates = adam("encoder.adam", parameters,
                   nn::clip_by_global_norm(compute::gradients(loss, parameters), options.max_norm));
  }

  compute::Graph graph;
  Tensor after, guess, loss;
  nn::Updates updates;
  std::vector<std::string> names;
};

ContextEncoder::ContextEncoder(const Space& space, const EncoderOptions& options, int64_t rows,
                               int64_t sequences)
    : ContextEncoder(std::make_unique<Recorded>(space, options, sequences > 0), space, options,
                     rows, sequences) {}

ContextEncoder::ContextEncoder(const Space& space, const EncoderOptions& options, int64_t rows,
                               const TensorFile& saved)
    : ContextEncoder(
          [&] {
            auto recorded = std::make_unique<Recorded>(space, options, false);
            expect_numbers(recorded->graph, saved);
            return recorded;
          }(),
          space, options, rows, 0) {
  variables_.load(saved);
}

ContextEncoder::ContextEncoder(std::unique_ptr<Recorded> recorded, const Space& space,
                               const EncoderOptions& options, int64_t rows, int64_t sequences)
    : space_(space),
      options_(options),
      sequences_(sequences),
      recorded_(std::move(recorded)),
      parameters_(recorded_->names),
      variables_(recorded_->graph),
      encode_(
          recorded_->graph, variables_,
          {.outputs = {{"after", recorded_->after}, {"guess", recorded_->guess}}, .updates = {}},
          {.rows = rows}),
      guesses_(static_cast<size_t>(rows * options.levels)) {
  if (sequences == 0) return;
  learn_ = std::make_unique<compute::Program>(
      recorded_->graph, variables_,
      compute::Computation{.outputs = {{"loss", recorded_->loss}}, .updates = recorded_->updates},
      compute::CompileOptions{.rows = sequences});
}

ContextEncoder::~ContextEncoder() = default;

void ContextEncoder::initialise(uint64_t seed, uint32_t stream) {
  variables_.initialize(seed, stream);
}

void ContextEncoder::encode(std::span<const std::byte> observations, std::span<float> contexts) {
  set_observations(encode_, space_.observation, observations);
  encode_.set("before", std::span<const float>(contexts));
  encode_.run(compute::Check::kNothing);
  encode_.read("after", contexts);
  encode_.read("guess",
               std::span(guesses_).first(contexts.size() / options_.hidden * options_.levels));
}

double ContextEncoder::update(const Rollout& rollout, std::span<const float> before,
                              std::span<const int32_t> levels, uint64_t seed, int64_t iteration) {
  const int64_t chunks = rollout.steps / options_.chunk, all = chunks * rollout.count;
  CHECK(learn_ != nullptr && all % sequences_ == 0, "{} chunks, {} at a time", all, sequences_);
  std::vector<int32_t> order(static_cast<size_t>(all));
  std::iota(order.begin(), order.end(), 0);
  Rng rng(seed, stream(Stream::kChunks), static_cast<uint32_t>(iteration));
  rng.shuffle(order);
  const auto bytes = static_cast<size_t>(space_.observation.bytes());
  const auto hidden = static_cast<size_t>(options_.hidden), rows = static_cast<size_t>(sequences_);
  std::vector<std::byte> seen(rows * bytes);
  std::vector<float> first(rows * hidden), kept(rows);
  std::vector<int32_t> played(rows);
  double total = 0;
  for (int64_t batch = 0; batch < all; batch += sequences_) {
    const auto step_of = [&](size_t row, int64_t t) {  // row of (steps, count)
      const int64_t chunk = order[static_cast<size_t>(batch) + row];
      return static_cast<size_t>(((chunk / rollout.count) * options_.chunk + t) * rollout.count +
                                 chunk % rollout.count);
    };
    for (size_t row = 0; row < rows; ++row) {
      std::copy_n(&before[step_of(row, 0) * hidden], hidden, &first[row * hidden]);
    }
    learn_->set("first", std::span<const float>(first));
    for (int64_t t = 0; t < options_.chunk; ++t) {
      for (size_t row = 0; row < rows; ++row) {
        const size_t at = step_of(row, t);
        std::memcpy(&seen[row * bytes], &rollout.observations[at * bytes], bytes);
        played[row] = levels[at];
        // What was there before the first step is already forgotten if it had to be.
        const bool begins =
            t > 0 && rollout.ends[at - static_cast<size_t>(rollout.count)] != End::kNone;
        kept[row] = begins ? 0.0F : 1.0F;
      }
      const std::string now = std::to_string(t);
      set_observations(*learn_, space_.observation, seen, "observation" + now);
      learn_->set("kept" + now, std::span<const float>(kept));
      learn_->set("level" + now, std::span<const int32_t>(played));
    }
    learn_->run();
    total += learn_->scalar("loss") * static_cast<double>(sequences_) / static_cast<double>(all);
  }
  return total;
}

}  // namespace agora::agents
