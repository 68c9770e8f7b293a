#pragma once
// Mechanisms that are learned: RegretNet, EquivariantNet, ALGnet and truthful ones.
#include <agora/auctions.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace agora::auctions {

// Everything a training can be told; recipe() fills it in for a mechanism and a setting.
struct Recipe {
  int hidden = 2, width = 100;  // hidden layers and their width (channels of an equivariantnet)
  int64_t iterations = 0;       // updates of the mechanism
  int64_t batch = 128;          // profiles per update
  int64_t samples = 0;  // size of a fixed sample with remembered misreports; 0: fresh profiles
  double rate = 1e-3, final_rate = 1e-3;  // of Adam; falls from one to the other along a cosine
  double weight_decay = 0;                // decoupled: AdamW
  double averaging = 0;  // decay of the running average of weights that is handed out; 0: none

  // The search for lies. For algnet these are steps of the misreporter's weights.
  int misreport_steps = 25;
  double misreport_rate = 0.1, misreport_final_rate = 0.1;  // in units of the scaled bids
  bool best_misreport = false;  // the best bid seen on the way instead of the last one
  int candidates = 0;           // other bids among which a search may start
  int refinements = 0;          // algnet: ascent steps on each bid after the misreporter's guess

  // The augmented Lagrangian of regretnet and equivariantnet.
  double multiplier = 5, penalty = 1, penalty_step = 1;
  int64_t penalty_every = 10'000, multiplier_every = 100;

  // The game of algnet; the misreporter is drawn anew now and then, early on.
  double misreporter_rate = 1e-3;
  double regret_floor = 1e-8;  // added to the regret under the root, whose slope has no bound at 0
  double regret_weight = 1;    // of the regret in the loss at first; all of it from half way on
  int64_t restart_every = 0, restart_until = 0;

  // The tariffs of a bidder, or the choices of a menu-net, and how what is chosen is smoothed, in
  // units of the highest value.
  int tariffs = 16;
  double temperature = 0.03, final_temperature = 3e-4;
};

// "best": what we found to earn most within minutes; "thesis": as published.
const std::vector<std::string>& recipe_kinds();
Recipe recipe(std::string_view mechanism, const Setting& setting, std::string_view kind = "best");

// What the training itself saw, on average over some iterations.
struct TrainingNumbers {
  double revenue = 0;
  double regret = 0;  // mean over bidders
  double loss = 0;
};

struct TrainingProgress {
  int64_t iteration = 0, iterations = 0;  // done, and in all
  TrainingNumbers numbers;                // since the last report
};

struct TrainingOptions {
  uint64_t seed = 0;
  // A .safetensors file that holds the state, written every ten seconds and at the end. A training
  // that finds it there goes on from it and ends with the same bits. Empty: nothing is saved.
  std::string checkpoint = {};
  int64_t report_every = 100;                                  // iterations
  std::function<bool(const TrainingProgress&)> progress = {};  // false: save and stop here
};

// Learns a mechanism from the recipe's first iteration, or the checkpoint, to the last.
std::unique_ptr<Mechanism> train(std::string_view mechanism, const Setting& setting,
                                 const Recipe& recipe, const TrainingOptions& options = {});

// One training, step by step. The same seed gives the same bits for any number of threads.
class Trainer {
 public:
  virtual ~Trainer() = default;
  virtual int64_t iteration() const = 0;
  // An exception, Interrupted among them, leaves it as it was after the last whole iteration.
  virtual void advance(int64_t iterations) = 0;
  virtual TrainingNumbers numbers() = 0;                     // since the last call
  virtual std::unique_ptr<Mechanism> mechanism() const = 0;  // as learned so far
  // Goes on with another law of values of the same size, as in an online auction.
  virtual void move_to(const Setting& setting) = 0;
};
std::unique_ptr<Trainer> trainer(std::string_view mechanism, const Setting& setting,
                                 const Recipe& recipe, uint64_t seed);

}  // namespace agora::auctions
