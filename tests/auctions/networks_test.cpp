// Networks as mechanisms: what they compute, how they are differentiated, where they come from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "auctions/audit/audit.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "base/safetensors.h"
#include "support/scratch.h"
#include "trained.h"

namespace agora::auctions {
namespace {

std::unique_ptr<Mechanism> small_network(const std::string& name, const Setting& market,
                                         uint64_t seed = 3) {
  return untrained(mechanism_kind(name), market, 2, 8, seed);
}

std::vector<double> draws(const Setting& market, int64_t profiles) {
  std::vector<double> values(profiles * market.bidders() * market.items());
  market.sample(5, kEvaluationStream, 0, profiles, values.data());
  return values;
}

class Networks : public ::testing::TestWithParam<std::string> {};

TEST_P(Networks, DifferentiateUtilityAsFiniteDifferencesDo) {
  const Setting market = setting("2x2 uniform(1,3)");
  const auto mechanism = small_network(GetParam(), market);
  if (!mechanism->has_gradients()) GTEST_SKIP() << "chooses among offers";
  constexpr int kProfiles = 20;
  const std::vector<double> bids = draws(market, kProfiles), truth = draws(market, kProfiles);
  for (int bidder = 0; bidder < 2; ++bidder) {
    std::vector<double> values(kProfiles * 2), utility(kProfiles), slope(kProfiles * 2);
    for (int k = 0; k < kProfiles; ++k) {  // lies: the values of another profile
      const int other = (k + 1) % kProfiles;
      std::copy_n(truth.begin() + (other * 2 + bidder) * 2, 2, values.begin() + k * 2);
    }
    mechanism->utility_gradient(kProfiles, 2, 2, bidder, values.data(), bids.data(), utility.data(),
                                slope.data());
    const auto utility_at = [&](int k, int item, double shift) {
      std::vector<double> moved(bids.begin() + k * 4, bids.begin() + k * 4 + 4), shares(4), paid(2);
      moved[bidder * 2 + item] += shift;
      mechanism->run(1, 2, 2, moved.data(), shares.data(), paid.data());
      return shares[bidder * 2] * values[k * 2] + shares[bidder * 2 + 1] * values[k * 2 + 1] -
             paid[bidder];
    };
    for (int k = 0; k < kProfiles; ++k) {
      EXPECT_NEAR(utility[k], utility_at(k, 0, 0.0), 1e-5);
      for (int j = 0; j < 2; ++j) {
        constexpr double kStep = 0.01;  // float32 rounds utilities to about 1e-7
        const double difference = (utility_at(k, j, kStep) - utility_at(k, j, -kStep)) / 2 / kStep;
        EXPECT_NEAR(slope[k * 2 + j], difference, 2e-4);
      }
    }
  }
}

TEST_P(Networks, AreScaledToTheirSetting) {
  // The same seed gives the same weights; ten times the values must give the same shares.
  const Setting unit = setting("2x2 uniform(0,1)"), large = setting("2x2 uniform(0,10)");
  std::vector<double> bids = draws(unit, 50);
  const Outcome small = run(*small_network(GetParam(), unit), bids);
  for (double& bid : bids) bid *= 10;
  const Outcome big = run(*small_network(GetParam(), large), bids);
  for (size_t k = 0; k < small.allocation.size(); ++k) {
    EXPECT_NEAR(small.allocation[k], big.allocation[k], 1e-5);
  }
  for (size_t k = 0; k < small.payments.size(); ++k) {
    EXPECT_NEAR(10 * small.payments[k], big.payments[k], 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Networks, ::testing::ValuesIn(trained()));

TEST(EquivariantNet, TreatsBiddersAndItemsAlikeAtAnySize) {
  const auto mechanism = small_network("equivariantnet", setting("2x3 uniform(0,1)"));
  for (const char* text : {"2x3 uniform(0,1)", "3x2 uniform(0,1)", "1x5 uniform(0,1)"}) {
    const Setting market = setting(text);
    ASSERT_TRUE(mechanism->accepts(market.bidders(), market.items()));
    const SymmetryTest test =
        symmetry_test(*mechanism, market, {.symmetry_profiles = 20, .seed = 1});
    EXPECT_LE(test.range_max, 1e-5) << text;
  }
  EXPECT_FALSE(small_network("regretnet", setting("2x3"))->accepts(3, 2));
}

TEST(RegretNet, IsNotSymmetricByItself) {
  const Setting market = setting("2x2");
  const auto mechanism = small_network("regretnet", market);
  EXPECT_GT(symmetry_test(*mechanism, market, {.symmetry_profiles = 20}).range_max, 1e-3);
}

// One hidden layer of two units for one bidder and one item, by hand.
struct PlainNet {
  std::vector<double> hidden{0.5, -1.0}, hidden_bias{0.1, 0.2};
  std::vector<double> logits{1, 0.3, -2, 0.7, -0.4, 0.9, 1.5, -1.1};  // (2, 4)
  std::vector<double> logits_bias{0.2, 0, -0.3, 0};
  std::vector<double> payment{0.8, -0.6}, payment_bias{0.05};

  std::pair<double, double> outcome(double bid) const {
    double h[2], z[2], p = payment_bias[0];
    for (int a = 0; a < 2; ++a) h[a] = std::tanh(hidden[a] * bid + hidden_bias[a]);
    for (int i = 0; i < 2; ++i) {  // the first column: the item; rows: the bidder, nobody
      z[i] = logits_bias[i * 2];
      for (int a = 0; a < 2; ++a) z[i] += h[a] * logits[a * 4 + i * 2];
    }
    for (int a = 0; a < 2; ++a) p += h[a] * payment[a];
    const double share = std::exp(z[0]) / (std::exp(z[0]) + std::exp(z[1]));
    return {share, share * bid / (1 + std::exp(-p))};
  }

  void write(const std::string& path, bool as_pytorch) const {
    TensorFile file;
    const auto add = [&](const std::string& name, int64_t in, int64_t out,
                         const std::vector<double>& weight, const std::vector<double>& bias) {
      std::vector<double> stored = weight;
      for (int64_t a = 0; as_pytorch && a < in; ++a) {
        for (int64_t b = 0; b < out; ++b) stored[b * in + a] = weight[a * out + b];
      }
      const std::vector<int64_t> shape =
          as_pytorch ? std::vector<int64_t>{out, in} : std::vector<int64_t>{in, out};
      file.tensors.push_back(StoredTensor::of<double>(name + ".weight", shape, stored));
      file.tensors.push_back(StoredTensor::of<double>(name + ".bias", {out}, bias));
    };
    add("allocation.0", 1, 2, hidden, hidden_bias);
    add("allocation.2", 2, 4, logits, logits_bias);
    add("payment.0", 1, 2, hidden, hidden_bias);
    add("payment.2", 2, 1, payment, payment_bias);
    write_safetensors(path, file);
  }
};

TEST(RegretNet, MadeElsewhereIsReadInBothLayouts) {
  const Scratch scratch;
  const PlainNet net;
  for (const bool as_pytorch : {false, true}) {
    const std::string path = (scratch / "plain.safetensors").string();
    net.write(path, as_pytorch);
    const auto mechanism = load(path);
    EXPECT_EQ(mechanism->bidders(), 1);
    EXPECT_EQ(mechanism->items(), 1);
    for (const double bid : {0.0, 0.3, 0.9}) {
      const Outcome outcome = run(*mechanism, {bid});
      EXPECT_NEAR(outcome.allocation[0], net.outcome(bid).first, 1e-6);
      EXPECT_NEAR(outcome.payments[0], net.outcome(bid).second, 1e-6);
    }
  }
}

TEST(RegretNet, WithANumberThatIsNoneIsRefused) {
  const Scratch scratch;
  const std::string path = (scratch / "plain.safetensors").string();
  PlainNet net;
  net.payment_bias = {std::nan("")};
  net.write(path, true);
  expect_user_error([&] { load(path); }, {"tensor 'payment.1.bias' holds nan"});
}

TEST(RegretNet, MadeElsewhereMustFitTogether) {
  const Scratch scratch;
  const std::string path = (scratch / "plain.safetensors").string();
  TensorFile file;
  file.tensors.push_back(StoredTensor::of<double>("weights", {1}, std::vector<double>{1}));
  write_safetensors(path, file);
  expect_user_error([&] { load(path); },
                    {"expected metadata 'mechanism', or a RegretNet's tensors"});
  PlainNet().write(path, true);
  file = read_safetensors(path);
  for (StoredTensor& tensor : file.tensors) {
    if (tensor.name == "allocation.2.bias") {
      tensor = StoredTensor::of<double>(tensor.name, {3}, std::vector<double>{1, 2, 3});
    }
  }
  write_safetensors(path, file);
  expect_user_error([&] { load(path); }, {"do not follow on each other"});
}

}  // namespace
}  // namespace agora::auctions
