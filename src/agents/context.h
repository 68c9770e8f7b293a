#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/network.h"
#include "agents/rollout.h"
#include "compute/program.h"

namespace agora::agents {

// What an episode has shown so far, as a vector: the hidden state of a recurrent network that is
// trained to tell which level is played.
struct EncoderOptions {
  int64_t hidden = 64;  // numbers of the vector
  int64_t levels = 200;
  int64_t chunk = 16;  // steps that one gradient goes back
  double rate = 1e-3;
  double max_norm = 0.5;  // of the gradient
  NetworkOptions network = {};
};

class ContextEncoder {
 public:
  // `rows` episodes at a time; `sequences` of `chunk` steps in an update, none: it only encodes.
  ContextEncoder(const Space& space, const EncoderOptions& options, int64_t rows,
                 int64_t sequences = 0);
  // As it was saved; it only encodes.
  ContextEncoder(const Space& space, const EncoderOptions& options, int64_t rows,
                 const TensorFile& saved);
  ~ContextEncoder();

  void initialise(uint64_t seed, uint32_t stream);

  // Contexts (rows, hidden) after these observations; `contexts` holds those before.
  void encode(std::span<const std::byte> observations, std::span<float> contexts);
  std::span<const float> guesses() const { return guesses_; }  // (rows, levels), of the last ones

  // One pass over what a rollout saw: chunks in a drawn order, each from the context it began with.
  // (steps, count): contexts before each step, levels. Returns the mean loss.
  double update(const Rollout& rollout, std::span<const float> before,
                std::span<const int32_t> levels, uint64_t seed, int64_t iteration);

  compute::Variables& variables() { return variables_; }
  const std::vector<std::string>& parameter_names() const { return parameters_; }

 private:
  struct Recorded;
  ContextEncoder(std::unique_ptr<Recorded> recorded, const Space& space,
                 const EncoderOptions& options, int64_t rows, int64_t sequences);

  Space space_;
  EncoderOptions options_;
  int64_t sequences_;
  std::unique_ptr<Recorded> recorded_;
  std::vector<std::string> parameters_;
  compute::Variables variables_;
  compute::Program encode_;
  std::unique_ptr<compute::Program> learn_;
  std::vector<float> guesses_;
};

}  // namespace agora::agents
