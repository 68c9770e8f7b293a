#include "auctions/mechanism.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int64_t kProfilesPerPart = 1024;

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
    run_profile(bids + k * size, allocation + k * size, payments + k * n);
  }
}

void run_parallel(const Mechanism& mechanism, int64_t profiles, int bidders, int items,
                  const double* bids, double* allocation, double* payments) {
  const int64_t size = int64_t{bidders} * items;
  const int64_t parts = (profiles + kProfilesPerPart - 1) / kProfilesPerPart;
  default_pool().run(parts, [&](int64_t part) {
    const int64_t begin = part * kProfilesPerPart;
    const int64_t count = std::min(profiles - begin, kProfilesPerPart);
    mechanism.run(count, bidders, items, bids + begin * size, allocation + begin * size,
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

std::unique_ptr<Mechanism> exact(std::string_view name, const Setting& setting,
                                 const ExactOptions& options) {
  const MechanismKind& kind = mechanism_kind(name);
  if (!kind.design) throw user_error("{} is trained, not computed: use auction train", name);
  if (const std::string why = kind.refusal(setting); !why.empty()) {
    throw user_error("{} cannot take setting \"{}\": {}", name, setting.text(), why);
  }
  return kind.make(kind.design(setting, options));
}

Parameters parameters_for(std::string_view mechanism, const Setting& setting) {
  Parameters parameters;
  parameters.mechanism = mechanism;
  parameters.setting = setting.text();
  parameters.bidders = setting.bidders();
  parameters.items = setting.items();
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
