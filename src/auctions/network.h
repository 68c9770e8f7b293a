#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "auctions/mechanism.h"
#include "compute/operations.h"

// Mechanisms that are neural networks.
namespace agora::auctions {

// What a network decides about bids (rows, ..., n, m).
struct Decision {
  compute::Tensor allocation;  // (rows, ..., n, m)
  compute::Tensor fraction;    // (rows, ..., n): of the declared worth of what it gets, a payment
};
using Network = std::function<Decision(compute::Tensor bids)>;
compute::Tensor payments(const Decision& decision, compute::Tensor bids);  // (rows, ..., n)

struct Architecture {
  int bidders = 1, items = 1;
  int hidden = 2, width = 100;     // hidden layers and their width or channels
  std::vector<double> low, range;  // (n, m) or (1): the network sees x = (bid - low) / range,
  bool saturating = false;         // or x / (1 + x) where values have no end
  bool unit_demand = false;        // nobody gets more than one item in all
  std::map<std::string, std::vector<int64_t>> widths{};  // of a network that has its own
  // The hidden layers of one of its networks.
  std::vector<int64_t> widths_of(const std::string& network) const;
};
compute::Tensor scaled(const Architecture& architecture, compute::Tensor bids);
// Shares (rows, ..., n, m) of items, of which a bidder of unit demand gets one at most in all.
compute::Tensor at_most_one(const Architecture& architecture, compute::Tensor shares);
compute::Tensor unscaled(const Architecture& architecture, compute::Tensor x);  // low + range x

struct TrainingKind;  // auctions/training/trainer.h: audits see networks and not how they learn

// How a kind of mechanism is recorded in a graph.
struct NetworkKind {
  std::function<Network(compute::Graph&, const Architecture&)> record;  // declares its parameters
  std::string layers = {};  // "allocation.{}.weight": the tensors that tell depth and width, if any
  bool any_size = false;    // its parameters do not depend on the numbers of bidders and items
  // Parameters before training, of a kind whose mechanism is no graph of bids.
  std::function<Parameters(const MechanismKind&, const Setting&, int hidden, int width,
                           uint64_t seed)>
      fresh = {};
  std::vector<std::string> free{};  // networks NAME.K.weight whose depth and widths are their own
  std::shared_ptr<const TrainingKind> training = nullptr;
};

// The architecture for a setting: bids are scaled to about [0, 1] by the domains of the values,
// by the 95 % quantile where those have no end.
Architecture architecture_for(const NetworkKind& kind, const Setting& setting, int hidden,
                              int width);
// The one that the tensors of saved parameters tell.
Architecture architecture_of(const NetworkKind& kind, const Parameters& parameters);
// Parameters with the scaling filled in; the weights are still to come.
Parameters network_parameters(std::string_view mechanism, const Setting& setting,
                              const Architecture& architecture);

// The entry of a kind of network in the registry of mechanisms.
MechanismKind network_entry(std::string name, std::string summary, const NetworkKind& network);

std::unique_ptr<Mechanism> make_network(const NetworkKind& kind, Parameters parameters);
// With weights as they are before training.
std::unique_ptr<Mechanism> untrained(const MechanismKind& kind, const Setting& setting, int hidden,
                                     int width, uint64_t seed);

}  // namespace agora::auctions
