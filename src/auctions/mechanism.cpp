#include "auctions/mechanism.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "auctions/setting.h"
#include "base/error.h"
#include "base/signals.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int64_t kProfilesPerPart = 1024;

bool all_finite(const double* values, int64_t count) {
  bool finite = true;
  for (int64_t k = 0; k < count; ++k) {
    finite &= std::abs(values[k]) <= std::numeric_limits<double>::max();
  }
  return finite;
}

}  // namespace

void Mechanism::utility_gradient(int64_t, int, int, int, const double*, const double*, double*,
                                 double*) const {
  CHECK(false, "{} has no gradients", name());
}

void FixedMechanism::run(int64_t profiles, int n, int m, const double* bids, double* allocation,
                         double* payments) const {
  CHECK(n == bidders() && m == items(), "{} is {}x{}, the bids are {}x{}", name(), bidders(),
        items(), n, m);
  const int64_t size = int64_t{n} * m;
  std::fill(allocation, allocation + profiles * size, 0.0);
  std::fill(payments, payments + profiles * n, 0.0);
  for (int64_t k = 0; k < profiles; ++k) {
    throw_if_stopped();
    run_profile(bids + k * size, allocation + k * size, payments + k * n);
  }
}

void check_memory(const char* option, int64_t profiles, const Setting& setting) {
  constexpr double kMost = 4e9;
  const double bytes = 8.0 * static_cast<double>(profiles) * setting.bidders() * setting.items();
  if (bytes <= kMost) return;
  throw user_error("{}: {} profiles of {}x{} take {:.2g} GB, at most {:.2g}", option, profiles,
                   setting.bidders(), setting.items(), bytes / 1e9, kMost / 1e9);
}

std::vector<double> design_values(const Setting& setting, uint64_t seed, int64_t profiles) {
  if (const auto& table = laws_of(setting).table) {
    const int64_t count = std::min(profiles, table->design_profiles());
    return {table->design.begin(), table->design.begin() + count * table->profile_size()};
  }
  check_memory("design-profiles", profiles, setting);
  std::vector<double> values(profiles * setting.bidders() * setting.items());
  setting.sample(seed, kDesignStream, 0, profiles, values.data());
  return values;
}

std::unique_ptr<Mechanism> make_mechanism(const MechanismKind& kind, Parameters parameters) {
  const double largest =
      kind.network ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max();
  for (const auto& [name, tensor] : parameters.tensors) {
    for (const double value : tensor.values) {
      if (std::abs(value) <= largest) continue;
      throw user_error("mechanism '{}': tensor '{}' holds {}, expected finite numbers{}",
                       parameters.mechanism, name, std::isnan(value) ? std::abs(value) : value,
                       std::isfinite(value) ? fmt::format(" up to {:.4g}", largest) : "");
    }
  }
  const size_t budgets = parameters.limits.budgets.size();
  if (budgets != 0 && budgets != static_cast<size_t>(parameters.bidders)) {
    throw user_error("mechanism '{}': expected {} budgets, found {}", parameters.mechanism,
                     parameters.bidders, budgets);
  }
  if (parameters.limits.demand == Demand::kUnit && parameters.items > 1 &&
      !kind.takes_unit_demand) {
    throw user_error("mechanism '{}': it does not take unit demand", parameters.mechanism);
  }
  if (budgets != 0 && !kind.takes_budgets) {
    throw user_error("mechanism '{}': it does not take budgets", parameters.mechanism);
  }
  return kind.make(std::move(parameters));
}

void run_checked(const Mechanism& mechanism, int64_t profiles, int bidders, int items,
                 const double* bids, double* allocation, double* payments) {
  mechanism.run(profiles, bidders, items, bids, allocation, payments);
  const bool paid = all_finite(payments, profiles * bidders);
  if (paid && all_finite(allocation, profiles * bidders * items)) return;
  throw user_error("{} gives {} that are not finite: its parameters or the bids are too large",
                   mechanism.name(), paid ? "allocations" : "payments");
}

void run_parallel(const Mechanism& mechanism, int64_t profiles, int bidders, int items,
                  const double* bids, double* allocation, double* payments) {
  const int64_t size = int64_t{bidders} * items;
  const int64_t parts = (profiles + kProfilesPerPart - 1) / kProfilesPerPart;
  default_pool().run(parts, [&](int64_t part) {
    const int64_t begin = part * kProfilesPerPart;
    const int64_t count = std::min(profiles - begin, kProfilesPerPart);
    run_checked(mechanism, count, bidders, items, bids + begin * size, allocation + begin * size,
                payments + begin * bidders);
  });
}

Outcome run(const Mechanism& mechanism, const std::vector<double>& bids) {
  const int64_t size = int64_t{mechanism.bidders()} * mechanism.items();
  if (bids.size() % size != 0) {
    throw user_error("expected bids of {}x{} profiles, found {} numbers", mechanism.bidders(),
                     mechanism.items(), bids.size());
  }
  const auto profiles = static_cast<int64_t>(bids.size()) / size;
  Outcome outcome{.allocation = std::vector<double>(bids.size()),
                  .payments = std::vector<double>(profiles * mechanism.bidders())};
  run_parallel(mechanism, profiles, mechanism.bidders(), mechanism.items(), bids.data(),
               outcome.allocation.data(), outcome.payments.data());
  return outcome;
}

const MechanismKind& mechanism_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const MechanismKind& kind : mechanisms()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  throw user_error("unknown mechanism '{}'{}; known: {}", name, suggestion(name, names),
                   fmt::join(names, ", "));
}

void expect_computed(const MechanismKind& kind) {
  if (!kind.design) throw user_error("{} is trained, not computed: use auction train", kind.name);
}

std::string refusal_of(const MechanismKind& kind, const Setting& setting) {
  const bool wants_one = setting.unit_demand() && setting.items() > 1;
  const bool limited_money = !setting.limits().budgets.empty();
  const auto takes = [&](const MechanismKind& each) {
    return (!wants_one || (each.takes_unit_demand && each.takes_unit_demand(setting))) &&
           (!limited_money || (each.takes_budgets && each.takes_budgets(setting)));
  };
  std::string why = kind.refusal(setting);
  if (!why.empty() || takes(kind)) return why;
  std::vector<std::string> others;
  for (const MechanismKind& each : mechanisms()) {
    if (takes(each) && each.refusal(setting).empty()) others.push_back(each.name);
  }
  return fmt::format("it does not take {}{}{} here; {}", wants_one ? "unit demand" : "",
                     wants_one && limited_money ? " with " : "", limited_money ? "budgets" : "",
                     others.empty() ? "no kind does"
                                    : fmt::format("{} {}", fmt::join(others, ", "),
                                                  others.size() == 1 ? "does" : "do"));
}

void check_setting(const MechanismKind& kind, const Setting& setting) {
  const std::string why = refusal_of(kind, setting);
  if (why.empty()) return;
  throw user_error("{} cannot take setting \"{}\": {}", kind.name, setting.text(), why);
}

std::unique_ptr<Mechanism> exact(std::string_view name, const Setting& setting,
                                 const ExactOptions& options) {
  const MechanismKind& kind = mechanism_kind(name);
  expect_computed(kind);
  check_setting(kind, setting);
  Parameters parameters =
      kind.design(setting, {Told(kind.name, kind.parameters, options.arguments), options.seed});
  try {
    return make_mechanism(kind, std::move(parameters));
  } catch (const UserError& error) {
    throw user_error("setting \"{}\": {}", setting.text(), error.what());
  }
}

Parameters parameters_for(std::string_view mechanism, const Setting& setting) {
  Parameters parameters;
  parameters.mechanism = mechanism;
  parameters.setting = setting.text();
  parameters.bidders = setting.bidders();
  parameters.items = setting.items();
  parameters.limits = setting.limits();
  return parameters;
}

const Parameters::Tensor& tensor(const Parameters& parameters, const std::string& name,
                                 const std::vector<int64_t>& shape) {
  const auto found = parameters.tensors.find(name);
  if (found == parameters.tensors.end()) {
    throw user_error("mechanism '{}': tensor '{}' is missing", parameters.mechanism, name);
  }
  bool same = found->second.shape.size() == shape.size();
  for (size_t d = 0; same && d < shape.size(); ++d) {
    same = shape[d] < 0 || found->second.shape[d] == shape[d];
  }
  if (!same) {
    throw user_error("mechanism '{}': tensor '{}' has shape [{}], expected [{}]",
                     parameters.mechanism, name, fmt::join(found->second.shape, ","),
                     fmt::join(shape, ","));
  }
  return found->second;
}

}  // namespace agora::auctions
