#pragma once
#include <agora/auctions.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/parameter.h"

namespace agora::auctions {

struct NetworkKind;  // auctions/network.h

// How a mechanism is to be computed.
struct Design {
  Told told;  // its own parameters
  uint64_t seed;
};

// One kind of mechanism is one file of mechanisms/, whose `MechanismKind entry_STEM()` fills this.
// A mechanism is a function of its Parameters: what is saved is what was made.
struct MechanismKind {
  std::string name;
  std::string summary;            // one line, for listings
  std::string pays = {};          // what a bidder who gets something pays, for listings
  std::string trial_setting;      // a small setting for the conformance suite
  bool truthful = true;           // no bidder gains by a false bid, on the domain of its setting
  std::string average_flag = {};  // with this flag truth pays only on average over the others
  std::vector<Parameter> parameters = {};  // of its design, beside the seed
  // Why it cannot be made for a setting, naming what can; "" if it can. Limits are apart.
  std::function<std::string(const Setting&)> refusal;
  // Whether it is made, and truthful, for several items with unit demand, and with budgets; empty:
  // it is not. One item is unit demand for all.
  std::function<bool(const Setting&)> takes_unit_demand = {}, takes_budgets = {};
  // Computes the parameters; empty for mechanisms that are trained.
  std::function<Parameters(const Setting&, const Design&)> design;
  std::function<std::unique_ptr<Mechanism>(Parameters)> make;
  // About how many seconds a design takes; empty: moments.
  std::function<double(const Setting&)> effort = {};
  Arguments soon = {};  // with which it takes moments all the same, and earns a little less
  std::shared_ptr<const NetworkKind> network = nullptr;  // of those that are trained
  bool refines = false;  // learns more than one kind does: a design tries it last
};

// Every kind, in the order of their file names (generated).
const std::vector<MechanismKind>& mechanisms();
// The kind of that name; the user's mistake, with a suggestion, if there is none.
const MechanismKind& mechanism_kind(std::string_view name);
// One that is trained is the user's mistake.
void expect_computed(const MechanismKind& kind);
// Why a kind cannot be made for a setting and its limits, naming what can; "" if it can.
std::string refusal_of(const MechanismKind& kind, const Setting& setting);
// A setting that the kind refuses is the user's mistake.
void check_setting(const MechanismKind& kind, const Setting& setting);

// Parameters with the names and sizes filled in.
Parameters parameters_for(std::string_view mechanism, const Setting& setting);
// The tensor of that name with these sizes (-1: any); another one is the user's mistake.
const Parameters::Tensor& tensor(const Parameters& parameters, const std::string& name,
                                 const std::vector<int64_t>& shape);
// Those of a saved mechanism, of whatever kind.
Parameters load_parameters(const std::string& file);

// What the kind makes of them. A number that is not finite, or of a network too large for single
// precision, is the user's mistake: it would run through every outcome without a word.
std::unique_ptr<Mechanism> make_mechanism(const MechanismKind& kind, Parameters parameters);

// Values of so many profiles must fit into memory: one line that names the option otherwise.
void check_memory(const char* option, int64_t profiles, const Setting& setting);

// Profiles that a mechanism is fitted to, at most so many: drawn, or the rows of a table, each
// once.
std::vector<double> design_values(const Setting& setting, uint64_t seed, int64_t profiles);

// Whether save() could take it; for those who would save after hours of work.
void check_file_name(const std::string& file);

// A mechanism that is a function of its parameters and has one size.
class FixedMechanism : public Mechanism {
 public:
  const std::string& name() const override { return parameters_.mechanism; }
  int bidders() const override { return parameters_.bidders; }
  int items() const override { return parameters_.items; }
  Parameters parameters() const override { return parameters_; }
  void run(int64_t profiles, int bidders, int items, const double* bids, double* allocation,
           double* payments) const final;

 protected:
  explicit FixedMechanism(Parameters parameters) : parameters_(std::move(parameters)) {}
  // What of a bid counts for an item that is sold on its own. A sale that is truthful stays so: its
  // thresholds are not above a bid that counts, and whoever values the item at more than its budget
  // can do no better than to let all of that count.
  double affordable(int bidder, double bid) const {
    const std::vector<double>& budgets = parameters_.limits.budgets;
    return budgets.empty() ? bid : std::min(bid, budgets[bidder]);
  }
  // One profile: bids (n, m) -> allocation (n, m), payments (n), both zero on entry.
  virtual void run_profile(const double* bids, double* allocation, double* payments) const = 0;

 private:
  Parameters parameters_;
};

// mechanism.run(), whose outcomes must be finite; parameters can be so large that they are not.
void run_checked(const Mechanism& mechanism, int64_t profiles, int bidders, int items,
                 const double* bids, double* allocation, double* payments);
// The same for bids (profiles, n, m) of any size on the program's threads, in fixed slices.
void run_parallel(const Mechanism& mechanism, int64_t profiles, int bidders, int items,
                  const double* bids, double* allocation, double* payments);

}  // namespace agora::auctions
