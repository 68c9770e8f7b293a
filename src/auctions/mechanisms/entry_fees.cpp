// Affine maximisers in which whoever gets anything pays a fee to enter. Of all bidders those enter
// who together are worth the most: a search among sets of bidders, however many items there are.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "auctions/exact/entry.h"
#include "auctions/exact/evolution.h"
#include "auctions/exact/reserve.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/thread_pool.h"

namespace agora::auctions::kind_entry_fees {
namespace {

constexpr int64_t kSearchNumbers = 400'000, kPolishNumbers = 4'000'000;  // values, at most
// Per number searched, and in all.
constexpr int kTries = 40, kPolishTries = 20, kMostTries = 1500, kMostPolishTries = 400;
constexpr int64_t kSlice = 64;
// To begin with: of the reserves of items on their own, and of what a bidder gains without fees.
constexpr double kReserves[] = {0.0, 0.5, 1.0}, kFees[] = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4};

// What is searched: reserves and fees as shares of those, the same for bidders who are alike.
class Shares {
 public:
  Shares(const Setting& setting, const std::vector<double>& values)
      : alike_(setting.bidder_symmetric()),
        reserves_(reserves_for(setting)),
        gains_(setting.bidders()) {
    const int64_t n = setting.bidders(), m = setting.items();
    const int64_t profiles = std::ssize(values) / (n * m);
    for (int64_t sale = 0; sale < profiles * m; ++sale) {
      const double* bids = values.data() + sale / m * n * m + sale % m;
      int64_t winner = 0;
      double best = 0.0, second = 0.0;
      for (int64_t i = 0; i < n; ++i) {
        const double bid = bids[i * m];
        second = std::max(second, std::min(best, bid));
        if (bid > best) best = bid, winner = i;
      }
      gains_[winner] += (best - second) / static_cast<double>(profiles);
    }
    if (!alike_) return;
    const double all = std::accumulate(gains_.begin(), gains_.end(), 0.0);
    std::fill(gains_.begin(), gains_.end(), all / static_cast<double>(n));
  }

  // What a search begins with, from shares of the reserves and of the gain.
  std::vector<double> first(double reserve, double fee) const {
    if (alike_) return {reserve, fee};
    std::vector<double> numbers;
    for (size_t i = 0; i < gains_.size(); ++i) {
      numbers.insert(numbers.end(), {reserve, fee, 0.0});
    }
    return numbers;
  }

  // Of a bidder's numbers the first two are such shares, those below 0 standing for 0; the third is
  // the logarithm of its weight, which is 1 for all who are alike.
  Parameters operator()(Parameters parameters, const std::vector<double>& numbers) const {
    const int64_t n = parameters.bidders, m = parameters.items;
    Parameters::Tensor fees{{n}, gains_}, reserves{{n, m}, reserves_}, weights{{n}, {}};
    for (int64_t i = 0; i < n; ++i) {
      const double* own = &numbers[alike_ ? 0 : 3 * i];
      for (int64_t j = 0; j < m; ++j) reserves.values[i * m + j] *= std::max(0.0, own[0]);
      fees.values[i] *= std::max(0.0, own[1]);
      weights.values.push_back(alike_ ? 1.0 : std::exp(own[2] - numbers[2]));
    }
    parameters.tensors["fees"] = std::move(fees);
    parameters.tensors["reserves"] = std::move(reserves);
    parameters.tensors["weights"] = std::move(weights);
    return parameters;
  }

 private:
  bool alike_;
  std::vector<double> reserves_;  // (n, m)
  std::vector<double> gains_;     // (n)
};

double mean_revenue(const EntryFees& mechanism, const double* values, int64_t profiles) {
  const int n = mechanism.bidders(), m = mechanism.items();
  const int64_t parts = (profiles + kSlice - 1) / kSlice;
  std::vector<double> sums(parts);
  default_pool().run(parts, [&](int64_t part) {
    const int64_t first = part * kSlice, count = std::min(kSlice, profiles - first);
    std::vector<double> allocation(count * n * m), payments(count * n);
    mechanism.run(count, n, m, values + first * n * m, allocation.data(), payments.data());
    sums[part] = std::accumulate(payments.begin(), payments.end(), 0.0);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(profiles);
}

std::vector<double> first_numbers(const Shares& shares, const auto& revenue) {
  std::vector<double> best;
  double most = -1.0;
  for (const double reserve : kReserves) {
    for (const double fee : kFees) {
      const double earned = revenue(shares.first(reserve, fee));
      if (earned > most) most = earned, best = shares.first(reserve, fee);
    }
  }
  return best;
}

int64_t profiles_within(const Setting& setting, int64_t numbers) {
  return std::max<int64_t>(1, numbers / (int64_t{setting.bidders()} * setting.items()));
}

struct Tries {
  explicit Tries(int numbers)
      : search(std::min(kTries * (numbers + 1), kMostTries)),
        polish(std::min(kPolishTries * (numbers + 1), kMostPolishTries)) {}
  int search, polish;
};

Parameters design(const Setting& setting, const Design& how) {
  const std::vector<double> values =
      design_values(setting, how.seed,
                    std::min(profiles_within(setting, kPolishNumbers),
                             how.told.whole<int64_t>(design_profiles().name)));
  const int64_t profiles = std::ssize(values) / (int64_t{setting.bidders()} * setting.items());
  const int64_t few = std::min(profiles, profiles_within(setting, kSearchNumbers));
  const Shares shares(setting, values);
  const Parameters named = parameters_for("entry-fees", setting);
  const auto revenue_on = [&](int64_t count) {
    return [&, count](const std::vector<double>& numbers) {
      return mean_revenue(EntryFees(shares(named, numbers)), values.data(), count);
    };
  };
  note_activity("searching on {} profiles", few);
  std::vector<double> best = first_numbers(shares, revenue_on(few));
  if (best.empty()) {
    throw user_error("entry-fees on setting \"{}\": revenues are not finite", setting.text());
  }
  const Tries tries(static_cast<int>(best.size()));
  best =
      maximise(revenue_on(few), best, {.step = 0.2, .evaluations = tries.search, .seed = how.seed});
  note_activity("polishing on {} profiles", profiles);
  best = maximise(revenue_on(profiles), best,
                  {.step = 0.02, .evaluations = tries.polish, .seed = how.seed});
  Parameters parameters = shares(named, best);
  parameters.notes["design_profiles"] = std::to_string(profiles);
  return parameters;
}

// About how many seconds one thread takes for a profile: what searches of drawn ones read, at fees
// of some shares.
double seconds_per_profile(const Setting& setting) {
  constexpr double kPerSearch = 2e-7, kPerRead = 5e-10;
  constexpr double kShares[] = {0.2, 0.5, 0.8};
  constexpr int kDrawn = 4;
  constexpr int64_t kMostRead = 100'000'000;  // then it is known to be much
  const std::vector<double> values = design_values(setting, 0, kDrawn);
  const Shares shares(setting, values);
  EntrySearch search(setting.bidders(), setting.items());
  search.stop_after(kMostRead);
  int64_t searches = 0;
  for (const double share : kShares) {
    const Parameters at = shares(parameters_for("entry-fees", setting), shares.first(0.5, share));
    const double* fees = at.tensors.at("fees").values.data();
    const std::vector<double>& reserves = at.tensors.at("reserves").values;
    std::vector<double> worths(reserves.size());
    for (size_t first = 0; first < values.size(); first += worths.size()) {
      for (size_t e = 0; e < worths.size(); ++e) worths[e] = values[first + e] - reserves[e];
      search.best(worths.data(), fees);
      const std::vector<int> who = search.who();
      for (const int i : who) search.best_without(i);
      searches += 1 + std::ssize(who);
    }
  }
  const double seconds =
      kPerSearch * static_cast<double>(searches) + kPerRead * static_cast<double>(search.read());
  const int64_t profiles = std::ssize(values) / (int64_t{setting.bidders()} * setting.items());
  return seconds / static_cast<double>(std::ssize(kShares) * profiles);
}

// About how many seconds one thread takes.
double effort(const Setting& setting) {
  const Tries tries(setting.bidder_symmetric() ? 2 : 3 * setting.bidders());
  const auto& table = laws_of(setting).table;
  const int64_t there_are = table ? table->design_profiles() : kPolishNumbers;
  const int64_t profiles = std::min(there_are, profiles_within(setting, kPolishNumbers));
  const int64_t few = std::min(profiles, profiles_within(setting, kSearchNumbers));
  const int64_t begun = std::size(kReserves) * std::size(kFees);
  const int64_t runs = (begun + tries.search) * few + tries.polish * profiles;
  return seconds_per_profile(setting) * static_cast<double>(runs);
}

std::string refusal(const Setting& setting) {
  if (setting.bidders() <= EntryFees::kMostBidders) return "";
  return fmt::format("it searches who enters among at most {} bidders; tariff takes any number",
                     EntryFees::kMostBidders);
}

}  // namespace

MechanismKind entry_entry_fees() {
  return {.name = "entry-fees",
          .summary = "affine maximiser in which whoever gets anything pays a fee to enter",
          .pays =
              "what its presence costs the others, in bids, reserves and entry fees; at least its "
              "own fee and the reserves of what it gets",
          .trial_setting = "3x3 uniform(0,1)",
          .parameters = {design_profiles()},
          .refusal = refusal,
          .design = design,
          .make = [](Parameters p) { return std::make_unique<EntryFees>(std::move(p)); },
          .effort = effort,
          .soon = {{design_profiles().name, 500}}};
}

}  // namespace agora::auctions::kind_entry_fees
