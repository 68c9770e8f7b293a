#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/environment.h"
#include "agents/network.h"
#include "agents/policy.h"
#include "agents/profile.h"
#include "base/learning_loop.h"
#include "base/parameter.h"

namespace agora::agents {

struct AgentOptions {
  std::string environment;
  Arguments environment_arguments = {};
  Levels levels = Levels::range(0, 200);
  int64_t steps = 1'000'000;  // of all environments together
  int64_t environments = 64;  // which the members of an ensemble share
  uint64_t seed = 0;
  NetworkOptions network = {};
  Arguments arguments = {};  // of the algorithm's own parameters
};

// Learns in environments, iteration by iteration, and can be asked for what it has learned.
class AgentLearner : public Resumable {
 public:
  virtual SavedPolicy policy() const = 0;
  virtual int64_t environment_steps() const = 0;  // so far
  // Of this process; empty where nobody has looked.
  virtual std::optional<Profile> profile() const { return std::nullopt; }

  int64_t step() const final { return iteration_; }
  void advance(int64_t iterations) final;

 protected:
  // One iteration. A signal in the middle of it undoes it: what it changes is remembered before,
  // which is state() unless told otherwise.
  virtual void iterate() = 0;
  virtual void remember() { before_.tensors = state(); }
  virtual void go_back() { load(before_); }
  virtual std::vector<StoredTensor> state() const { return tensors(); }
  virtual void load(const TensorFile& saved) = 0;

  int64_t iteration_ = 0;

 private:
  TensorFile before_;
};

// A policy without its members: what it was made for, with the network as resolved in `agent`.
SavedPolicy policy_without_members(const AgentOptions& agent, const Space& space);

// One algorithm is one file of algorithms/, whose `Algorithm entry_STEM()` fills this.
struct Algorithm {
  std::string name;
  std::string summary;  // one line, for listings
  std::vector<Parameter> parameters = {};
  std::function<std::unique_ptr<AgentLearner>(const AgentOptions&)> make;
};

// Every algorithm, in the order of their file names (generated).
const std::vector<Algorithm>& algorithms();
const Algorithm& algorithm_named(const std::string& name);  // a user error names the nearest

}  // namespace agora::agents
