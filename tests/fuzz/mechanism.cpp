// Mechanisms in files, .safetensors or .json; small ones run.
#include "auctions/mechanism.h"

#include "base/error.h"
#include "fuzz/target.h"

namespace agora::fuzz {

const bool known = add("mechanism", [](std::string_view input) {
  const std::string name = input.starts_with('{') ? "input.json" : "input.safetensors";
  const auto mechanism = auctions::load(as_file(name, input).string());
  const size_t size = static_cast<size_t>(mechanism->bidders()) * mechanism->items();
  if (size > 16) return;
  std::vector<double> bids(size);
  for (size_t i = 0; i < size; ++i) bids[i] = 0.5 + 0.1 * static_cast<double>(i);
  const auctions::Outcome outcome = auctions::run(*mechanism, bids);
  CHECK(outcome.allocation.size() == size, "{} probabilities", outcome.allocation.size());
});

}  // namespace agora::fuzz
