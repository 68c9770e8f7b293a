#pragma once
// Policies that are learned on a few levels of an environment and measured on unseen ones.
#include <agora/argument.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace agora::agents {

struct LearningProgress {
  int64_t steps = 0, total = 0;  // of all environments together
  double mean_return = 0;        // of the episodes since the last report
  int64_t episodes = 0;          // since then
};

// What a policy is learned with. Names are those of `agora agent list`.
struct Learning {
  std::string algorithm = "leep", environment = "maze";
  Arguments arguments = {}, environment_arguments = {};  // {{"members", 4}}
  int64_t levels = 200;                                  // from 0 on
  int64_t steps = 1'000'000, environments = 64;
  std::string network = "auto";  // mlp, conv, impala
  int64_t width = 64, hidden_layers = 2, channels = 16;
  uint64_t seed = 0;
  // A .safetensors file that holds the state, written every ten seconds and at the end. One that is
  // there already is gone on with, to the same bits. Empty: nothing is saved.
  std::string checkpoint = {};
  int64_t report_every = 1;                                    // iterations
  std::function<bool(const LearningProgress&)> progress = {};  // false: save and stop here
};

// A policy. One with a memory remembers what it was asked, and what was done, until forget().
class Agent {
 public:
  virtual ~Agent() = default;
  virtual const std::string& environment() const = 0;
  virtual int64_t observation_bytes() const = 0;
  virtual int actions() const = 0;
  // The probability of every action.
  virtual std::vector<double> probabilities(std::span<const std::byte> observation) = 0;
  virtual void did(int action) = 0;  // in what was asked last
  virtual void forget() = 0;
  virtual void save(const std::string& file) const = 0;
};
std::unique_ptr<Agent> learn(const Learning& learning);
std::unique_ptr<Agent> load_agent(const std::string& file);

struct ReturnsOptions {
  bool unseen = true;  // levels that were not learned on, or those that were
  int64_t episodes = 1000;
  bool greedy = false;  // the likeliest action in place of a draw
  uint64_t seed = 0;
};
struct Returns {
  double mean = 0, low = 0, high = 0;  // 95 % by bootstrap over levels
  double steps = 0;                    // of an episode, on average
  std::vector<double> each;            // (episodes)
};
Returns returns(const Agent& agent, const ReturnsOptions& options = {});

}  // namespace agora::agents
