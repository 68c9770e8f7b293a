// The strong test against an exhaustive search, which shares no code with it.

#include <agora/auction_training.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "auctions/audit/audit.h"
#include "auctions/network.h"
#include "auctions/setting.h"

namespace agora::auctions {
namespace {

// Weights several times as large as before training bend the utility into hills and valleys.
std::unique_ptr<Mechanism> rugged(const std::string& name, const Setting& market, double scale,
                                  uint64_t seed) {
  const MechanismKind& kind = mechanism_kind(name);
  Parameters parameters = untrained(kind, market, 2, 16, seed)->parameters();
  for (auto& [tensor, content] : parameters.tensors) {
    if (tensor.starts_with("scale.") || tensor.ends_with("bias")) continue;
    for (double& value : content.values) value *= scale;
  }
  return kind.make(parameters);
}

// Every bid of a grid over the domain; then, around its peaks, finer and finer grids.
class Exhaustive {
 public:
  Exhaustive(const Mechanism& mechanism, const Setting& market, int bidder,
             std::vector<double> profile)
      : mechanism_(mechanism),
        n_(market.bidders()),
        m_(market.items()),
        bidder_(bidder),
        profile_(std::move(profile)),
        truth_(profile_.begin() + bidder * m_, profile_.begin() + (bidder + 1) * m_) {
    for (int j = 0; j < m_; ++j) range_.push_back(market.search_domain(bidder, j));
  }

  double gain(int points) const {
    std::vector<double> low(m_), step(m_);
    for (int j = 0; j < m_; ++j) {
      low[j] = range_[j].low;
      step[j] = (range_[j].high - range_[j].low) / (points - 1);
    }
    const std::vector<double> bids = box(low, step, points), found = utilities(bids);
    std::vector<size_t> peaks;
    for (size_t k = 0; k < found.size(); ++k) {
      if (is_peak(found, k, points)) peaks.push_back(k);
    }
    std::sort(peaks.begin(), peaks.end(), [&](size_t a, size_t b) { return found[a] > found[b]; });
    peaks.resize(std::min<size_t>(peaks.size(), 20));
    double best = climb(truth_, step);
    for (size_t k : peaks) {
      best = std::max(best, climb({bids.begin() + k * m_, bids.begin() + (k + 1) * m_}, step));
    }
    return best - utilities(truth_)[0];
  }

 private:
  double climb(std::vector<double> at, std::vector<double> step) const {
    constexpr int kFine = 5, kLevels = 12;
    double best = utilities(at)[0];
    for (int level = 0; level < kLevels; ++level) {
      std::vector<double> corner(m_), fine(m_);
      for (int j = 0; j < m_; ++j) {
        fine[j] = 2 * step[j] / (kFine - 1);
        corner[j] = at[j] - step[j];
      }
      const std::vector<double> bids = box(corner, fine, kFine), found = utilities(bids);
      const auto top = std::max_element(found.begin(), found.end());
      if (*top > best) {
        best = *top;
        const auto from = bids.begin() + (top - found.begin()) * m_;
        at.assign(from, from + m_);
      }
      for (double& each : step) each *= 0.5;
    }
    return best;
  }
  std::vector<double> box(const std::vector<double>& low, const std::vector<double>& step,
                          int points) const {
    std::vector<double> bids;
    int64_t count = 1;
    for (int j = 0; j < m_; ++j) count *= points;
    for (int64_t k = 0; k < count; ++k) {
      int64_t rest = k;
      for (int j = 0; j < m_; ++j, rest /= points) {
        const double place = static_cast<double>(rest % points);
        bids.push_back(std::clamp(low[j] + step[j] * place, range_[j].low, range_[j].high));
      }
    }
    return bids;
  }
  bool is_peak(const std::vector<double>& found, size_t k, int points) const {
    size_t stride = 1;
    for (int j = 0; j < m_; ++j, stride *= points) {
      const size_t place = k / stride % points;
      if (place > 0 && found[k - stride] > found[k]) return false;
      if (place + 1 < size_t(points) && found[k + stride] > found[k]) return false;
    }
    return true;
  }
  std::vector<double> utilities(const std::vector<double>& bids) const {
    const int64_t count = static_cast<int64_t>(bids.size()) / m_, size = int64_t{n_} * m_;
    std::vector<double> all(count * size), allocation(count * size), payments(count * n_);
    for (int64_t k = 0; k < count; ++k) {
      std::copy(profile_.begin(), profile_.end(), all.begin() + k * size);
      std::copy_n(bids.begin() + k * m_, m_, all.begin() + k * size + int64_t{bidder_} * m_);
    }
    mechanism_.run(count, n_, m_, all.data(), allocation.data(), payments.data());
    std::vector<double> result(count);
    for (int64_t k = 0; k < count; ++k) {
      const double* share = allocation.data() + k * size + int64_t{bidder_} * m_;
      result[k] =
          std::inner_product(share, share + m_, truth_.begin(), -payments[k * n_ + bidder_]);
    }
    return result;
  }

  const Mechanism& mechanism_;
  int n_, m_, bidder_;
  std::vector<double> profile_, truth_;
  std::vector<Interval> range_;
};

// The regret that the exhaustive search finds, and the share of it that the strong test finds.
struct Comparison {
  double regret = 0, share = 0;
};
Comparison compare(const Mechanism& mechanism, const Setting& market, int profiles, int points) {
  const int n = market.bidders();
  Comparison result;
  for (int k = 0; k < profiles; ++k) {
    std::vector<double> values(n * market.items());
    market.sample(0, kEvaluationStream, k, 1, values.data());
    for (int i = 0; i < n; ++i) {
      result.regret += Exhaustive(mechanism, market, i, values).gain(points) / (profiles * n);
    }
  }
  result.share =
      strong_regret(mechanism, market, {.regret_profiles = profiles}).mean / result.regret;
  return result;
}

struct Trial {
  std::string mechanism, setting;
  double scale;
  int profiles, points;
};
class RuggedNetworks : public ::testing::TestWithParam<Trial> {};

TEST_P(RuggedNetworks, StrongTestFindsWhatThereIs) {
  const Setting market = setting(GetParam().setting);
  const auto mechanism = rugged(GetParam().mechanism, market, GetParam().scale, 5);
  const Comparison found = compare(*mechanism, market, GetParam().profiles, GetParam().points);
  ASSERT_GT(found.regret, 1e-3);
  EXPECT_GE(found.share, 0.999);
  EXPECT_LE(found.share, 1.001);  // the judge is no worse
}

INSTANTIATE_TEST_SUITE_P(
    Networks, RuggedNetworks,
    ::testing::Values(Trial{"regretnet", "1x1", 8, 20, 2001}, Trial{"regretnet", "1x2", 6, 20, 101},
                      Trial{"algnet", "1x2", 8, 20, 101}, Trial{"regretnet", "B", 8, 20, 101},
                      Trial{"equivariantnet", "B", 3, 10, 101},
                      Trial{"regretnet", "2x2 uniform(4,16) uniform(4,7)", 6, 10, 61},
                      Trial{"regretnet", "2x2", 1, 10, 61}, Trial{"regretnet", "2x2", 6, 10, 61},
                      Trial{"equivariantnet", "2x2", 4, 10, 61}, Trial{"algnet", "2x2", 6, 10, 61},
                      Trial{"regretnet", "1x3", 4, 10, 25},
                      Trial{"regretnet", "VI(0.1)", 4, 20, 201},
                      Trial{"regretnet", "IV", 4, 20, 201}));

struct Training {
  std::string mechanism, setting;
  int64_t iterations;
  int points;
};
class SlowTrainedNetworks : public ::testing::TestWithParam<Training> {};

TEST_P(SlowTrainedNetworks, StrongTestFindsWhatThereIs) {
  const auto& [name, text, iterations, points] = GetParam();
  const Setting market = setting(text);
  Recipe how = recipe(name, market);
  how.iterations = iterations;
  const auto learner = trainer(name, market, how, 3);
  learner->advance(iterations);
  const Comparison found = compare(*learner->mechanism(), market, 100, points);
  EXPECT_GE(found.share, 0.999) << found.regret;
  EXPECT_LE(found.share, 1.001) << found.regret;
}

INSTANTIATE_TEST_SUITE_P(Networks, SlowTrainedNetworks,
                         ::testing::Values(Training{"regretnet", "1x2", 1500, 151},
                                           Training{"regretnet", "B", 1500, 151},
                                           Training{"regretnet", "2x2", 800, 101},
                                           Training{"regretnet", "1x3", 1000, 33},
                                           Training{"regretnet", "VI(0.1)", 800, 201},
                                           Training{"equivariantnet", "B", 100, 151},
                                           Training{"algnet", "B", 60, 151}));

}  // namespace
}  // namespace agora::auctions
