#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/levels.h"
#include "agents/space.h"
#include "base/checkpoints.h"
#include "base/parameter.h"

namespace agora::agents {

enum class End : uint8_t {
  kNone,
  kTerminated,  // nothing comes after
  kCutOff,      // a limit of steps; the state has a value still
};

// A row of environments of one kind that are stepped together. An episode that ends is followed by
// the next one at once: what is seen then is its beginning. All of it is a function of the seed and
// the actions, whatever the number of threads.
class Environment {
 public:
  virtual ~Environment() = default;

  virtual int64_t count() const = 0;
  virtual const Space& space() const = 0;

  // One action for each environment; one that its mask forbids, or that does not exist, is our own
  // mistake.
  virtual void step(std::span<const int32_t> actions) = 0;
  // A step in parts, where it has them: of environments from `first` on. The parts of a step follow
  // each other from environment 0 on.
  virtual bool has_parts() const { return false; }
  virtual void step_part(std::span<const int32_t> actions, int64_t first);

  // What is seen now: (count, bytes of an observation), at the same place for good.
  virtual std::span<const std::byte> observations() const = 0;
  // Of the last step: (count) each. Where an episode ended, its level and what was seen last are
  // told too; elsewhere these are left as they were. So is what was seen last of an episode that
  // came to its end, where an environment does not show ends: nothing may be learned from that.
  virtual std::span<const float> rewards() const = 0;
  virtual std::span<const End> ends() const = 0;
  virtual std::span<const int64_t> ended_levels() const = 0;
  virtual std::span<const std::byte> last_observations() const = 0;
  virtual bool shows_ends() const { return true; }
  // Of the episodes under way: (count).
  virtual std::span<const int64_t> levels() const = 0;
  // How likely each of its levels is, in their order, in episodes that begin from now on; until
  // then all are alike.
  virtual void prefer(std::span<const double> chances) = 0;
  // What may be done now: (count, actions) of 1 or 0; empty if everything always may.
  virtual std::span<const uint8_t> masks() const { return {}; }

  // The whole state: restored into one made alike, it goes on with the same bits. What cannot be a
  // state is a UserError, and nothing is changed.
  virtual std::vector<StoredTensor> save(const std::string& prefix) const = 0;
  virtual void restore(const TensorFile& saved, const std::string& prefix) = 0;

  // A picture of one of them for people: (height, width, 3) bytes.
  struct Picture {
    int64_t height = 0, width = 0;
    std::vector<uint8_t> rgb;
  };
  virtual Picture picture(int64_t environment) const = 0;
};

struct EnvironmentOptions {
  Levels levels = Levels::range(0, 200);
  int64_t count = 64;
  uint64_t seed = 0;
  Arguments arguments = {};  // of the kind's own parameters
};

// One kind of environment is one file of envs/, whose `EnvironmentKind entry_STEM()` fills this.
struct EnvironmentKind {
  std::string name;     // "maze", or "procgen" for "procgen/maze"
  std::string summary;  // one line, for listings
  // What may follow after a slash: games, forms of observation; the first one is taken without.
  std::vector<std::string> forms = {};
  std::vector<Parameter> parameters = {};
  // Why it cannot be had here with these arguments, and the command that gets it; "" if it can.
  std::function<std::string(const Arguments&)> missing = [](const Arguments&) { return ""; };
  std::function<std::unique_ptr<Environment>(const std::string& form, const EnvironmentOptions&)>
      make;
};

// Every kind, in the order of their file names (generated).
const std::vector<EnvironmentKind>& environments();

// "maze", "maze/pixels", "procgen/heist"; a name that nobody has is the user's mistake.
std::unique_ptr<Environment> make_environment(const std::string& name,
                                              const EnvironmentOptions& options);
// The whole name, "maze/symbols" for "maze".
std::string environment_name(const std::string& name);

}  // namespace agora::agents
