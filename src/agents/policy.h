#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/agreement.h"
#include "agents/environment.h"
#include "agents/episode_memory.h"
#include "agents/network.h"
#include "base/safetensors.h"

namespace agora::agents {

// What acts. An evaluation sees this and nothing of the learner behind it.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual const Space& space() const = 0;
  // The logarithms of the probabilities (rows, actions) of what is done, up to a number per row.
  // A policy with a memory has one per row.
  virtual void logits(std::span<const std::byte> observations, int64_t rows,
                      std::span<float> out) = 0;
  // What was done in the rows of the last logits().
  virtual void did(std::span<const int32_t> actions) { static_cast<void>(actions); }
  virtual void forget(int64_t row) { static_cast<void>(row); }  // its episode is over
};

// How the policies of several members become one.
enum class Link : uint8_t { kMax, kAverage };
std::string link_name(Link link);

void to_probabilities(std::span<float> logits);  // of one state
// log of the linked probabilities of one state, from probabilities (members, actions).
void link_logits(Link link, std::span<const float> probabilities, std::span<float> out);

// What a network gives for each action.
enum class Head : uint8_t {
  kActorCritic,  // its logit, and beside all of them the value of the state
  kValues,       // what it is worth; of several members the least counts
};

// Values of the actions in one state become logits. At temperature 0 the better one of two actions
// is e^1000 times as likely, so that the best of those that a mask allows is taken.
void value_logits(double temperature, std::span<float> values);

// A policy as it is kept: networks of one kind, and how they are linked.
struct SavedPolicy {
  std::string file = "policy";  // where it was read, for messages
  std::string environment;      // it was made for
  Arguments environment_arguments = {};
  int64_t levels = 0;  // it was learned on, from 0 on
  Space space;
  NetworkOptions network;
  Link link = Link::kMax;
  Head head = Head::kActorCritic;
  double temperature = 0;  // of a softmax of values; 0: the best action, the first of equals
  MemoryOptions memory = {.cost = 0};
  std::vector<std::vector<StoredTensor>> members;  // named as in the graph: policy.*
  // Of a network with a context: what makes it of what an episode has shown, and its tensors.
  int64_t encoder_levels = 0;
  std::vector<StoredTensor> encoder;
  // Who acts where the members disagree, a network of the same kind that sees the trace of the
  // episode too; empty: nobody.
  std::vector<StoredTensor> explorer;
  Exploration exploration = {};
};
void save_policy(const std::filesystem::path& file, const SavedPolicy& policy);
SavedPolicy load_policy(const std::filesystem::path& file);
// For up to so many rows at a time.
std::unique_ptr<Policy> make_policy(const SavedPolicy& saved, int64_t rows);
// Every action with the same chance.
std::unique_ptr<Policy> random_policy(const Space& space);

}  // namespace agora::agents
