#pragma once
#include <optional>

#include "auctions/setting.h"
#include "auctions/training/misreports.h"
#include "auctions/training/trainer.h"
#include "compute/program.h"
#include "nn/optimisers.h"

// What the trainings by Lagrangian and by game share.
namespace agora::auctions {

// Adam whose rate is the input "rate" of the graph.
nn::Adam adam(compute::Graph& graph, double weight_decay);

// The step of the mechanism's weights for given misreports, as graph nodes.
struct MechanismStep {
  compute::Tensor revenue;  // shared scalar
  compute::Tensor regret;   // (n): mean over the rows
};
// Inputs "values" and "misreports" (rows, n, m).
MechanismStep mechanism_step(compute::Graph& graph, const Network& network,
                             const Architecture& architecture);

// Adds a running average of each parameter to the updates of a step.
void average_weights(compute::Graph& graph, const compute::Tensors& parameters, double decay,
                     nn::Updates& updates);

class CommonTrainer : public ResumableTrainer {
 public:
  int64_t iteration() const override { return iteration_; }
  TrainingNumbers numbers() override;
  std::unique_ptr<Mechanism> mechanism() const override;
  std::vector<StoredTensor> state() const override;
  void restore(const TensorFile& state) override;
  void move_to(const Setting& setting) override;

 protected:
  CommonTrainer(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
                uint64_t seed);

  double rate() const;         // of this iteration
  double temperature() const;  // likewise
  AscentPlan ascent_plan() const;
  // The next batch, fresh or from the fixed sample, and as values_.
  std::span<const float> draw_values();
  void fetch_values();
  void write_weights(Parameters& parameters) const;  // as handed out
  // Where in the fixed sample entry k of this batch is; every epoch has an order of its own.
  int64_t place(int64_t k);
  void note(double revenue, std::span<const float> regret, double loss);
  // The search for lies, a row per profile and bidder, starts from the best of the bidder's report,
  // what bidders in its place have as values in other profiles of the batch, and far-out bids.
  // Inputs: "batch" is values_, "reports" (rows, m); the rest is filled by the two below.
  compute::Tensor record_search(const Network& network, const AscentPlan& plan);
  void prepare_search(compute::Program& search);
  void draw_starts(compute::Program& search);  // of this iteration
  int64_t profile_size() const { return int64_t{setting_.bidders()} * setting_.items(); }

  // Other tensors than variables, by name; they are saved and restored.
  virtual std::vector<std::pair<std::string, std::vector<float>*>> buffers() { return {}; }
  virtual std::vector<std::pair<std::string, std::vector<double>*>> numbers_kept() { return {}; }

  const MechanismKind& kind_;
  Setting setting_;
  Recipe recipe_;
  uint64_t seed_;
  Architecture architecture_;
  compute::Graph graph_;
  compute::Tensors weights_;  // of the mechanism
  std::optional<compute::Variables> variables_;
  compute::DeviceArray values_;  // (batch, n, m): of this iteration
  int64_t iteration_ = 0;

 private:
  std::vector<float> sample_;   // (samples, n, m)
  std::vector<int64_t> order_;  // of the sample in the epoch shuffled_
  int64_t shuffled_ = -1;
  std::vector<float> fetched_;                         // (batch, n, m)
  std::vector<int32_t> others_;                        // (batch n, candidates that are not far out)
  std::vector<float> far_;                             // (batch n, those that are, m)
  std::vector<double> sums_ = std::vector<double>(4);  // revenue, regret, loss, iterations
};

}  // namespace agora::auctions
