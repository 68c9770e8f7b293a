// ALGnet's auctioneer (thesis, ch. 5), trained in a game against a misreporter.
#include "auctions/algnet.h"

namespace agora::auctions {
namespace {

Network record(compute::Graph& graph, const Architecture& architecture) {
  return Auctioneer(graph, architecture);
}

}  // namespace

MechanismKind entry_algnet() {
  return network_entry("algnet",
                       "networks trained in a game of an auctioneer against a misreporter",
                       {.record = record, .layers = "sold.{}.weight"});
}

}  // namespace agora::auctions
