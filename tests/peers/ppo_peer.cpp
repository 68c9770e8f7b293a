// The C++ side of tests/scripts/compare_ppo.py: `ppo_peer FOLDER` writes, for each network and
// link, weights, a batch, the losses and the gradient to FOLDER/NETWORK-LINK.safetensors.
#include <filesystem>

#include "agents/made_rollout.h"
#include "base/safetensors.h"

namespace {

using namespace agora;
using namespace agora::agents;

constexpr int64_t kSamples = 48;
constexpr double kPenalty = 0.7;

void write(const std::filesystem::path& folder, const std::string& network, const Space& space,
           const std::string& link_word) {
  const Link link = link_word == "average" ? Link::kAverage : Link::kMax;
  const double penalty = link_word == "none" ? 0 : kPenalty;
  PpoMember member(space, {.kind = network}, {}, {.penalty = penalty, .link = link}, false,
                   kSamples, kSamples);
  member.initialise(3, 0);
  Rng rng(4);
  unsettle(member, rng);
  const Rollout rollout = made_rollout(member, space, false, kSamples, rng);
  std::vector<float> others;
  if (penalty > 0) others = made_others(link, kSamples, space.actions, rng);
  const PpoGradient found = member.gradient(rollout, others);

  TensorFile file;
  const auto put = [&](const std::string& name, std::vector<int64_t> shape, auto values) {
    using T = typename decltype(values)::value_type;
    file.tensors.push_back(StoredTensor::of<T>(name, std::move(shape), values));
  };
  for (const StoredTensor& slope : found.tensors) {
    const auto values = member.variables().get(slope.name);
    const std::vector<float> held(values.begin(), values.end());
    put("parameter." + slope.name, slope.shape, std::span<const float>(held));
    file.tensors.push_back(slope);
    file.tensors.back().name = "gradient." + slope.name;
  }
  std::vector<int64_t> shape = space.observation.shape;
  shape.insert(shape.begin(), kSamples);
  put("observations", shape,
      std::span(reinterpret_cast<const uint8_t*>(rollout.observations.data()),
                rollout.observations.size()));
  put("actions", {kSamples}, std::span<const int32_t>(rollout.actions));
  put("log_probs", {kSamples}, std::span<const float>(rollout.log_probs));
  put("values", {kSamples}, std::span<const float>(rollout.values));
  put("advantages", {kSamples}, std::span<const float>(rollout.advantages));
  put("returns", {kSamples}, std::span<const float>(rollout.returns));
  if (penalty > 0) put("others", {kSamples, space.actions}, std::span<const float>(others));
  const PpoNumbers& numbers = found.numbers;
  const std::vector<double> losses{numbers.loss, numbers.policy, numbers.value, numbers.entropy,
                                   numbers.penalty};
  put("losses", {5}, std::span<const double>(losses));
  write_safetensors(folder / (network + "-" + link_word + ".safetensors"), file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  using Type = ObservationSpace::Type;
  for (const std::string link : {"none", "max", "average"}) {
    write(argv[1], "mlp", {{Type::kByte, {15, 15, 3}}, 15}, link);
    write(argv[1], "impala", {{Type::kByte, {64, 64, 3}}, 15}, link);
  }
}
