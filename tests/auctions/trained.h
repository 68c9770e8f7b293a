#pragma once
#include <string>
#include <vector>

#include "auctions/network.h"
#include "auctions/training/trainer.h"

namespace agora::auctions {

// The names of the kinds that learn for any number of bidders, or of those whom `trainer` trains.
inline std::vector<std::string> trained(MakeTrainer* trainer = nullptr) {
  std::vector<std::string> names;
  for (const MechanismKind& kind : mechanisms()) {
    if (!kind.network || !kind.refusal(setting("2x2")).empty()) continue;
    if (trainer == nullptr || training_of(kind).trainer == trainer) names.push_back(kind.name);
  }
  return names;
}

}  // namespace agora::auctions
