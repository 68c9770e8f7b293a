#include <gtest/gtest.h>

#include <map>

#include "agents/made_rollout.h"
#include "agents/streams.h"

namespace agora::agents {
namespace {

constexpr int64_t kRowsMade = 40, kNumbers = 6, kWidth = 5;
constexpr int kActions = 4;
constexpr double kPenalty = 0.7;
const PpoOptions kOptions{.minibatches = 1};
const SeparateValue kSeparate{.advantage = 0.4};
const Invariance kInvariance{.weight = 0.6, .shift = 0.4};
// Of six numbers; by kInvariance it is moved by one at most each way.
constexpr int64_t kHeight = 2, kLength = 3;

using Weights = std::map<std::string, std::vector<double>>;

std::vector<double> dense(const Weights& weights, const std::string& name,
                          const std::vector<double>& x) {
  std::vector<double> y = weights.at(name + ".bias");
  const std::vector<double>& w = weights.at(name + ".weight");
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t o = 0; o < y.size(); ++o) y[o] += x[i] * w[i * y.size() + o];
  }
  return y;
}

std::vector<double> softmax(std::vector<double> logits) {
  double sum = 0;
  for (double& each : logits) sum += each = std::exp(each);
  for (double& each : logits) each /= sum;
  return logits;
}

struct Seen {
  std::vector<double> probabilities;
  double value, advantage;  // of the action that was taken, if it is said
};

struct Case {
  std::string name;
  bool masked, pulled;
  std::optional<Link> link;
  bool separate = false, invariant = false;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

// The network and the loss written out in double, from nothing but the weights and the batch.
struct ByHand {
  const Rollout& rollout;
  const std::vector<float>& others;
  std::optional<Link> link;  // none: drawn to `others` itself
  bool separate, invariant;
  std::vector<double> advantages = {};
  std::vector<std::vector<double>> targets = {};  // of the penalty: they stay where they are
  std::vector<std::byte> moved = {};              // as `fixed` were seen before
  std::vector<Seen> fixed = {};
  // How often a branch was taken.
  mutable int ratios_clipped = 0, ratios_unclipped = 0, values_clipped = 0, values_unclipped = 0;

  ByHand(const Rollout& seen, const std::vector<float>& theirs, const Case& one,
         const Weights& weights)
      : rollout(seen),
        others(theirs),
        link(one.link),
        separate(one.separate),
        invariant(one.invariant) {
    double mean = 0, square = 0;
    for (const float each : seen.advantages) mean += each / static_cast<double>(kRowsMade);
    for (const float each : seen.advantages) square += std::pow(each - mean, 2);
    for (const float each : seen.advantages) {
      advantages.push_back((each - mean) /
                           (std::sqrt(square / static_cast<double>(kRowsMade - 1)) + 1e-8));
    }
    for (size_t k = 0; !others.empty() && k < kRowsMade; ++k) {
      std::vector<double> target = see(weights, k).probabilities;
      double sum = 0;
      for (size_t a = 0; a < target.size(); ++a) {
        const double theirs_here = others[k * kActions + a];
        if (!link)
          target[a] = theirs_here;
        else if (*link == Link::kMax)
          target[a] = std::max(target[a], theirs_here);
        else
          target[a] += theirs_here;
        sum += target[a];
      }
      for (double& each : target) each /= sum;
      targets.push_back(std::move(target));
    }
    if (invariant) move(weights);
  }

  void move(const Weights& weights) {
    Rng rng(0, stream(Stream::kShifts), 0, 0);
    for (int64_t k = 0; k < kRowsMade; ++k) {
      const auto down = static_cast<int64_t>(rng.below(3)) - 1;
      const auto right = static_cast<int64_t>(rng.below(3)) - 1;
      for (int64_t y = 0; y < kHeight; ++y) {
        for (int64_t x = 0; x < kLength; ++x) {
          const int64_t from_y = y - down, from_x = x - right;
          const bool is_seen = from_y >= 0 && from_y < kHeight && from_x >= 0 && from_x < kLength;
          const int64_t from = k * kNumbers + from_y * kLength + from_x;
          moved.push_back(is_seen ? rollout.observations[static_cast<size_t>(from)] : std::byte{0});
        }
      }
      fixed.push_back(see(weights, static_cast<size_t>(k)));
    }
  }

  Seen see(const Weights& weights, size_t row) const {
    return see(weights, row, rollout.observations);
  }

  Seen see(const Weights& weights, size_t row, const std::vector<std::byte>& shown) const {
    std::vector<double> x;
    for (size_t i = 0; i < kNumbers; ++i) {
      x.push_back(static_cast<double>(shown[row * kNumbers + i]) / 255);
    }
    const auto features = [&](const std::string& network) {
      std::vector<double> y = x;
      for (const char* layer : {".trunk.0", ".trunk.1"}) {
        y = dense(weights, network + layer, y);
        for (double& each : y) each = std::max(each, 0.0);
      }
      return y;
    };
    const double worth = separate ? dense(weights, "value.critic", features("value"))[0] : 0;
    x = features("policy");
    std::vector<double> logits = dense(weights, "policy.actor", x);
    for (size_t a = 0; !rollout.masks.empty() && a < logits.size(); ++a) {
      if (rollout.masks[row * kActions + a] == 0) logits[a] = -1e9;
    }
    const double said = dense(weights, "policy.critic", x)[0];
    if (!separate) return {softmax(logits), said, 0};
    const auto action = static_cast<size_t>(rollout.actions[row]);
    return {softmax(logits), worth, said + weights.at("advantage.action")[action]};
  }

  double loss(const Weights& weights) const {
    double sum = 0;
    for (size_t k = 0; k < kRowsMade; ++k) {
      const auto [p, value, advantage] = see(weights, k);
      const double ratio =
          p[static_cast<size_t>(rollout.actions[k])] / std::exp(double{rollout.log_probs[k]});
      const double clipped = std::clamp(ratio, 1 - kOptions.clip, 1 + kOptions.clip);
      const double gain = ratio * advantages[k], least = clipped * advantages[k];
      ++(least < gain ? ratios_clipped : ratios_unclipped);
      sum -= std::min(gain, least);
      const double old = rollout.values[k], target = rollout.returns[k];
      const double near = old + std::clamp(value - old, -kOptions.clip, kOptions.clip);
      const double error = std::pow(value - target, 2), near_error = std::pow(near - target, 2);
      ++(near_error > error ? values_clipped : values_unclipped);
      sum += (separate ? 1 : kOptions.value) * 0.5 * std::max(error, near_error);
      if (separate) sum += kSeparate.advantage * std::pow(advantage - advantages[k], 2);
      for (size_t a = 0; a < p.size(); ++a) {
        if (p[a] <= 0) continue;
        sum += kOptions.entropy * p[a] * std::log(p[a]);
        if (!targets.empty()) sum += kPenalty * p[a] * std::log(p[a] / targets[k][a]);
      }
      if (!invariant) continue;
      const Seen there = see(weights, k, moved);
      sum += kInvariance.weight * 0.5 * std::pow(there.value - fixed[k].value, 2);
      for (size_t a = 0; a < p.size(); ++a) {
        const double was = fixed[k].probabilities[a];
        if (was > 0) sum += kInvariance.weight * was * std::log(was / there.probabilities[a]);
      }
    }
    return sum / static_cast<double>(kRowsMade);
  }
};

class PpoSlope : public ::testing::TestWithParam<Case> {};

// Central differences in double are good to 1e-9 here. Our own numbers are float: sums of some tens
// of terms, each rounded to 6e-8 of them, so that 1e-5 of the norm leaves room and an error in a
// term, of which none is below a hundredth of the norm, does not fit in.
TEST_P(PpoSlope, IsThatOfTheLossWrittenOutByHand) {
  constexpr double kStep = 1e-6, kTolerance = 1e-5;
  const auto& [name, masked, pulled, link, separate, invariant] = GetParam();
  Space space{{ObservationSpace::Type::kByte, {kNumbers}}, kActions};
  PpoOptions options = kOptions;
  if (separate) options.separate = kSeparate;
  if (invariant) {
    options.invariance = kInvariance;
    space.observation.shape = {kHeight, kLength, 1};
  }
  PpoMember member(space, {.kind = "mlp", .width = kWidth}, options,
                   {.penalty = pulled ? kPenalty : 0, .link = link}, masked, kRowsMade, kRowsMade);
  member.initialise(3, 0);
  Rng rng(4);
  unsettle(member, rng);
  const Rollout rollout = made_rollout(member, space, masked, kRowsMade, rng);
  std::vector<float> others;
  if (pulled) others = made_others(link.value_or(Link::kMax), kRowsMade, kActions, rng);
  const PpoGradient found = member.gradient(rollout, others);

  Weights weights;
  for (const std::string& parameter : member.parameter_names()) {
    const auto held = member.variables().get(parameter);
    weights[parameter].assign(held.begin(), held.end());
  }
  const ByHand hand(rollout, others, GetParam(), weights);
  const double own_value = separate ? found.numbers.value : 0;  // has a loss of its own
  EXPECT_NEAR(found.numbers.loss + own_value, hand.loss(weights), kTolerance);
  EXPECT_GE(hand.ratios_clipped, 5);
  EXPECT_GE(hand.ratios_unclipped, 5);
  EXPECT_GE(hand.values_clipped, 5);
  EXPECT_GE(hand.values_unclipped, 5);
  double norm = 0;
  std::vector<std::pair<double, double>> both;
  for (const StoredTensor& tensor : found.tensors) {
    const std::vector<double> ours = tensor.values<double>();
    std::vector<double>& at = weights.at(tensor.name);
    ASSERT_EQ(ours.size(), at.size());
    for (size_t k = 0; k < at.size(); ++k) {
      const double here = at[k];
      at[k] = here + kStep;
      const double above = hand.loss(weights);
      at[k] = here - kStep;
      const double below = hand.loss(weights);
      at[k] = here;
      both.emplace_back(ours[k], (above - below) / (2 * kStep));
      norm += both.back().second * both.back().second;
    }
  }
  // Two layers of 5 for 6 numbers, 4 actions and a critic; another such network without actions.
  ASSERT_EQ(both.size(), separate ? 95U + 71 + 4 : 95U);
  for (const auto& [ours, slope] : both) {
    EXPECT_NEAR(ours, slope, kTolerance * std::sqrt(norm));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PpoSlope,
    ::testing::Values(Case{"Alone", false, false, Link::kMax}, Case{"Masked", true, false, {}},
                      Case{"MaxLink", false, true, Link::kMax},
                      Case{"AverageLink", false, true, Link::kAverage},
                      Case{"DrawnToAPolicy", false, true, {}},
                      Case{"Separate", false, false, {}, true},
                      Case{"SeparateLink", true, true, Link::kMax, true},
                      Case{"Invariant", false, false, {}, false, true},
                      Case{"InvariantLink", true, true, Link::kMax, false, true}),
    [](const auto& one) { return one.param.name; });

// A value of its own is learned by updates, in as many epochs as it is told.
TEST(SeparateValue, LearnsInEpochsOfItsOwn) {
  const Space space{{ObservationSpace::Type::kByte, {kNumbers}}, kActions};
  const auto updated = [&](int64_t epochs) {
    PpoOptions options = kOptions;
    options.separate = SeparateValue{.epochs = epochs};
    PpoMember member(space, {.kind = "mlp", .width = kWidth}, options, {}, false, kRowsMade,
                     kRowsMade);
    member.initialise(3, 0);
    Rng rng(4);
    const Rollout rollout = made_rollout(member, space, false, kRowsMade, rng);
    std::vector<double> first, last, errors;
    const auto weights = [&](std::vector<double>& to) {
      for (const std::string& name : member.parameter_names()) {
        if (!name.starts_with("value.")) continue;
        const auto held = member.variables().get(name);
        to.insert(to.end(), held.begin(), held.end());
      }
    };
    weights(first);
    for (int k = 0; k < 30; ++k) errors.push_back(member.update(rollout, {}, 7, 0, k).value);
    weights(last);
    EXPECT_EQ(first.size(), 71U);
    EXPECT_NE(first, last);
    EXPECT_LT(errors.back(), errors.front());
    return last;
  };
  EXPECT_NE(updated(1), updated(9));
}

}  // namespace
}  // namespace agora::agents
