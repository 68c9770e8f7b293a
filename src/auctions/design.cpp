#include "auctions/design.h"

#include <agora/auction_audit.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "auctions/bounds.h"
#include "auctions/comparison.h"
#include "auctions/exact/reserve.h"
#include "auctions/limits.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/recipes.h"
#include "auctions/training/trainer.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kFewRows = 1000;  // of a table: cross-validated below
constexpr int kFolds = 5;
constexpr int64_t kTrialIterations = 20, kFewestIterations = 20;
constexpr double kTrialShare = 0.05;
constexpr int64_t kRegretProfiles = 200;
constexpr double kMostEffort = 30;   // of a baseline: what it would take if it did not hurry
constexpr double kBoundSeconds = 6;  // a bound is not for those who have less

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The same market with other rows.
Setting with_table(const Setting& setting, ValueTable table) {
  const std::string& text = setting.text();
  const size_t name = text.size() - limits_text(setting.limits()).size();
  return limited(make_setting(text.substr(0, name), std::move(table)), setting.limits());
}

// The market as it is designed for and judged on, several times where profiles are few.
std::vector<Setting> folds_of(const Setting& setting) {
  const auto& table = laws_of(setting).table;
  if (!table) return {setting};
  const int64_t rows = table->design_profiles() + table->held_out_profiles();
  if (rows >= kFewRows || rows < 2 * kFolds || table->design == table->held_out) return {setting};
  std::vector<double> all = table->design;
  all.insert(all.end(), table->held_out.begin(), table->held_out.end());
  const int64_t size = table->profile_size();
  std::vector<Setting> folds;
  for (int fold = 0; fold < kFolds; ++fold) {
    ValueTable part{.bidders = table->bidders, .items = table->items, .design = {}, .held_out = {}};
    for (int64_t k = 0; k < rows; ++k) {
      auto& to = k % kFolds == fold ? part.held_out : part.design;
      to.insert(to.end(), all.begin() + k * size, all.begin() + (k + 1) * size);
    }
    folds.push_back(with_table(setting, std::move(part)));
  }
  return folds;
}

// All rows of a table to design for; a setting of laws as it is.
Setting whole(const Setting& setting) {
  const auto& table = laws_of(setting).table;
  if (!table) return setting;
  ValueTable all = *table;
  all.design.insert(all.design.end(), table->held_out.begin(), table->held_out.end());
  return with_table(setting, std::move(all));
}

bool discrete(const Setting& setting) {
  if (laws_of(setting).table) return false;
  for (const auto& row : marginal_laws(setting)) {
    for (const Law& law : row) {
      if (law->atoms().empty()) return false;
    }
  }
  return true;
}

// Whether no bidder gains by a false bid, whatever its value is.
bool truthful_everywhere(const MechanismKind& kind, const Setting& setting) {
  if (!kind.truthful) return false;
  return kind.average_flag.empty() || setting.bidders() == 1 || discrete(setting);
}

// Reserves earn more than none. The efficient auction stays what it is where second-price has them.
Arguments fitted(const MechanismKind& kind, const Setting& setting) {
  Arguments arguments;
  const bool instead = setting.unit_demand() && setting.items() > 1;
  if (find(kind.parameters, kFitReserves) != nullptr && (instead || kind.name != "vcg")) {
    arguments.emplace(kFitReserves, true);
  }
  return arguments;
}

struct Made {
  std::unique_ptr<Mechanism> mechanism;
  int64_t iterations = 0;
};

// As much of the shipped recipe as the seconds allow.
Made train_within(const MechanismKind& kind, const Setting& setting, double seconds,
                  uint64_t seed) {
  Recipe recipe = training_of(kind).best(setting);
  const auto began = Clock::now();
  const auto trial = resumable_trainer(kind, setting, recipe, seed);
  trial->advance(1);
  const auto start = Clock::now();
  int64_t tried = 0;
  while (tried < kTrialIterations && seconds_since(start) < kTrialShare * seconds) {
    trial->advance(1);
    ++tried;
  }
  const double each = seconds_since(start) / static_cast<double>(std::max<int64_t>(tried, 1));
  const double left = std::max(0.0, seconds - seconds_since(began));
  const auto most = static_cast<int64_t>(std::min(1e15, left / std::max(each, 1e-9)));
  if (most < recipe.iterations) {
    recipe = with_iterations(recipe, std::max(kFewestIterations, most));
  }
  const auto training = resumable_trainer(kind, setting, recipe, seed);
  training->advance(recipe.iterations);
  return {training->mechanism(), recipe.iterations};
}

Made make(const MechanismKind& kind, const Setting& setting, double seconds, uint64_t seed) {
  if (kind.network) return train_within(kind, setting, seconds, seed);
  return {exact(kind.name, setting, {.seed = seed, .arguments = fitted(kind, setting)}), 0};
}

struct Entry {
  const MechanismKind* kind;
  Contender told = {};
  std::vector<std::unique_ptr<Mechanism>> made = {};  // one per fold
};

// Those who could take part, the quick ones first; why the others do not.
std::vector<Entry> entries(const Setting& setting, const DesignOptions& options,
                           DesignResult& result) {
  std::vector<Entry> found;
  for (const MechanismKind& kind : mechanisms()) {
    const bool truthful = truthful_everywhere(kind, setting);
    if (!truthful && !(kind.network && options.regret_at_most)) {
      if (!kind.network)
        result.absent.emplace_back(kind.name, "it is not truthful for every value");
      continue;
    }
    const std::string why = refusal_of(kind, setting);
    if (!why.empty()) {
      result.absent.emplace_back(kind.name, why);
      continue;
    }
    found.push_back({.kind = &kind});
    found.back().told.mechanism = kind.name;
    found.back().told.truthful = truthful;
  }
  const auto rank = [](const Entry& entry) {
    if (!entry.kind->network) return entry.kind->effort ? 1 : 0;
    return 2 + entry.kind->refines + 2 * !entry.told.truthful;
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Entry& a, const Entry& b) { return rank(a) < rank(b); });
  return found;
}

}  // namespace

DesignResult best_design(const Setting& setting, const DesignOptions& options) {
  const auto start = Clock::now();
  const double limit = 60 * options.minutes;
  DesignResult result;
  const std::vector<Setting> folds = folds_of(setting);
  result.folds = static_cast<int>(folds.size());
  const double turns = result.folds > 1 ? result.folds + 1.0 : 1.0;  // the best one once more
  std::vector<Entry> tried;
  std::vector<Entry> candidates = entries(setting, options, result);
  for (size_t c = 0; c < candidates.size(); ++c) {
    Entry& entry = candidates[c];
    const MechanismKind& kind = *entry.kind;
    const double left = limit - seconds_since(start);
    const auto learners =
        std::count_if(candidates.begin() + static_cast<int64_t>(c), candidates.end(),
                      [](const Entry& e) { return e.kind->network != nullptr; });
    // Half of what is left is for those who learn, as long as one is to come.
    const double share =
        kind.network ? left / static_cast<double>(learners) : (learners > 0 ? 0.5 : 1.0) * left;
    if (left <= 0 || (kind.effort && kind.effort(setting) * turns > share)) {
      result.absent.emplace_back(kind.name, "more minutes would be needed");
      continue;
    }
    const auto began = Clock::now();
    try {
      for (const Setting& fold : folds) {
        if (options.note) options.note(kind.name);
        Made made = make(kind, fold, share / turns, options.seed);
        entry.told.iterations = made.iterations;
        entry.made.push_back(std::move(made.mechanism));
      }
    } catch (const UserError& error) {
      result.absent.emplace_back(kind.name, error.what());
      continue;
    }
    entry.told.seconds = seconds_since(began);
    if (!entry.told.truthful) {
      const Audit found = audit(*entry.made[0], folds[0],
                                {.profiles = 1000,
                                 .regret_profiles = kRegretProfiles,
                                 .symmetry_profiles = 0,
                                 .thesis_test = false,
                                 .seed = options.seed});
      entry.told.regret = found.strong->mean;
      if (*entry.told.regret > *options.regret_at_most) {
        result.absent.emplace_back(
            kind.name, fmt::format("its regret {:.2g} is above {:g}; it earns {:.6g}",
                                   *entry.told.regret, *options.regret_at_most,
                                   evaluate(*entry.made[0], folds[0],
                                            {.profiles = options.profiles, .seed = options.seed})
                                       .revenue));
        continue;
      }
    }
    tried.push_back(std::move(entry));
  }
  if (tried.empty())
    throw user_error("no mechanism could be designed in {} minutes", options.minutes);

  if (options.note) options.note("judging");
  Comparison comparison(static_cast<int>(tried.size()));
  for (size_t f = 0; f < folds.size(); ++f) {
    std::vector<const Mechanism*> made;
    for (const Entry& entry : tried) made.push_back(entry.made[f].get());
    comparison.measure(made, folds[f], options.profiles, options.seed);
  }
  for (size_t k = 0; k < tried.size(); ++k) {
    comparison.fill(static_cast<int>(k), tried[k].told);
    result.kinds.push_back(tried[k].told);
    const Contender& told = tried[k].told;
    if (!std::isfinite(told.revenue + told.revenue_error + told.behind_error + told.welfare)) {
      throw user_error("setting \"{}\": sums of its values are not finite", setting.text());
    }
  }
  Entry& best = tried[comparison.best()];
  result.best = std::move(best.made[0]);
  if (folds.size() > 1) {
    const double seconds = std::max(limit - seconds_since(start), best.told.seconds / kFolds);
    result.best = make(*best.kind, whole(setting), seconds, options.seed).mechanism;
  }
  std::stable_sort(result.kinds.begin(), result.kinds.end(),
                   [](const Contender& a, const Contender& b) { return a.revenue > b.revenue; });
  result.profiles = comparison.profiles();
  const bool programs = limit >= kBoundSeconds;
  if (programs && options.note) options.note("bound");
  result.bounds = revenue_bounds(setting, comparison, programs);
  const Bound& lowest =
      *std::min_element(result.bounds.begin(), result.bounds.end(),
                        [](const Bound& a, const Bound& b) { return a.revenue < b.revenue; });
  result.upper_bound = lowest.revenue;
  result.bound = lowest.words;
  return result;
}

std::optional<CrossValidation> cross_validate(std::string_view mechanism, const Setting& setting,
                                              const ExactOptions& options) {
  const std::vector<Setting> folds = folds_of(setting);
  if (folds.size() == 1) return std::nullopt;
  Comparison comparison(1);
  for (const Setting& fold : folds) {
    const auto made = exact(mechanism, fold, options);
    comparison.measure({made.get()}, fold, fold.held_out(), options.seed);
  }
  Contender found;
  comparison.fill(0, found);
  return CrossValidation{static_cast<int>(folds.size()), comparison.profiles(), found.revenue,
                         found.revenue_error};
}

std::optional<Contender> best_baseline(const Setting& setting, int64_t profiles, uint64_t seed) {
  std::vector<std::unique_ptr<Mechanism>> made;
  std::vector<const Mechanism*> seen;
  for (const MechanismKind& kind : mechanisms()) {
    if (kind.network || !truthful_everywhere(kind, setting)) continue;
    if (!refusal_of(kind, setting).empty()) continue;
    if (kind.effort && (kind.soon.empty() || kind.effort(setting) > kMostEffort)) continue;
    Arguments arguments = fitted(kind, setting);
    arguments.insert(kind.soon.begin(), kind.soon.end());
    made.push_back(exact(kind.name, setting, {.seed = seed, .arguments = arguments}));
    seen.push_back(made.back().get());
  }
  if (made.empty()) return std::nullopt;
  Comparison comparison(static_cast<int>(made.size()));
  comparison.measure(seen, setting, profiles, seed);
  Contender best;
  best.mechanism = seen[comparison.best()]->name();
  comparison.fill(comparison.best(), best);
  return best;
}

}  // namespace agora::auctions
