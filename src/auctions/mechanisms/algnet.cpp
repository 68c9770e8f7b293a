// ALGnet's auctioneer (thesis, ch. 5), trained in a game against a misreporter.
#include "auctions/algnet.h"

namespace agora::auctions {
namespace {

Network record(compute::Graph& graph, const Architecture& architecture) {
  return Auctioneer(graph, architecture);
}

}  // namespace

MechanismKind entry_algnet() {
  const NetworkKind network{.record = record, .layers = "sold.{}.weight"};
  return {.name = "algnet",
          .summary = "networks trained in a game of an auctioneer against a misreporter",
          .trial_setting = "2x3 uniform(0,1)",
          .truthful = false,
          .refusal = [](const Setting&) { return ""; },
          .design = {},
          .make = [=](Parameters p) { return make_network(network, std::move(p)); },
          .network = std::make_shared<NetworkKind>(network)};
}

}  // namespace agora::auctions
