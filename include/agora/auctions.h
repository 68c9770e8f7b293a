#pragma once
// Auctions: settings (who may value what), mechanisms (bids in, allocations and payments out).
#include <agora/argument.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agora::auctions {

struct Interval {
  double low, high;
};

// What bidders want and can pay. Limits only take outcomes away, worth is additive as ever: one who
// wants a single item gets at most one in all, a lottery over single items, and nobody pays more
// than its budget, which all know.
enum class Demand { kAdditive, kUnit };
struct Limits {
  Demand demand = Demand::kAdditive;
  std::vector<double> budgets = {};  // (bidders), infinite: none; empty: nobody has one
  bool operator==(const Limits&) const = default;
};

struct SettingLaws;  // what a setting knows of the laws of values

// n bidders with values of m items, drawn from a known law or from a table of past values. Cheap to
// copy. Made by setting() and setting_from_values().
class Setting {
 public:
  const std::string& text() const;
  int bidders() const;
  int items() const;
  Interval domain(int bidder, int item) const;         // high may be infinite
  Interval search_domain(int bidder, int item) const;  // finite: where audits look for bids
  bool bidder_symmetric() const;                       // bidders have the same law
  bool item_symmetric() const;                         // items have the same law
  const Limits& limits() const;
  bool unit_demand() const { return limits().demand == Demand::kUnit; }
  double budget(int bidder) const;  // infinite: none

  // Profiles first .. first+count-1 of a stream: values (count, bidders, items). A profile is a
  // pure function of (seed, stream, its number); streams from 100 on are the library's own.
  void sample(uint64_t seed, uint32_t stream, int64_t first, int64_t count, double* values) const;
  void sample(uint64_t seed, uint32_t stream, int64_t first, int64_t count, float* values) const;
  // The same from the part that is kept for evaluation; differs only for tables of values.
  void sample_held_out(uint64_t seed, uint32_t stream, int64_t first, int64_t count,
                       double* values) const;
  int64_t held_out() const;  // number of held-out profiles of a table, 0: draw without end

  Setting at(double time) const;  // drifting laws at that time

 private:
  friend const SettingLaws& laws_of(const Setting& setting);
  friend Setting setting_of(std::shared_ptr<const SettingLaws> laws);
  explicit Setting(std::shared_ptr<const SettingLaws> laws) : laws_(std::move(laws)) {}
  std::shared_ptr<const SettingLaws> laws_;
};

// "3x10 uniform(0,1)", "1x2 uniform(4,16) uniform(4,7)", "2x2", "IV", "VI(0.1)"; docs/auctions.md.
// Limits follow: "2x3; demand unit; budget 0.5,inf".
Setting setting(std::string_view text);
// The same market with these limits instead of its own. One budget stands for all bidders.
Setting limited(const Setting& setting, Limits limits);
// A CSV of past values, one row per profile or in long form; every tenth profile is held out.
Setting setting_from_values(const std::string& file);

struct NamedSetting {
  std::string name, text, summary;
};
const std::vector<NamedSetting>& named_settings();

// What a mechanism is made of: enough to save it and to load it again.
struct Parameters {
  struct Tensor {
    std::vector<int64_t> shape;
    std::vector<double> values;
  };
  std::string mechanism;  // its name in the registry
  std::string setting;    // what it was made for
  int bidders = 0, items = 0;
  Limits limits = {};
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> notes;
};

// Bids in, allocation probabilities and expected payments out. Immutable; may be called from many
// threads at once.
class Mechanism {
 public:
  virtual ~Mechanism() = default;
  virtual const std::string& name() const = 0;
  virtual int bidders() const = 0;
  virtual int items() const = 0;
  // Sizes other than its own; an exchangeable network takes any.
  virtual bool accepts(int bidders, int items) const {
    return bidders == this->bidders() && items == this->items();
  }
  // bids (profiles, n, m) -> allocation (profiles, n, m), payments (profiles, n), on this thread.
  virtual void run(int64_t profiles, int bidders, int items, const double* bids, double* allocation,
                   double* payments) const = 0;

  // How many profiles at once it runs fastest on.
  virtual int64_t profiles_at_once() const { return 256; }

  // Mechanisms with gradients: the utility of `bidder`, whose true values are values (profiles, m),
  // at bids (profiles, n, m), and its derivative by that bidder's own bids (profiles, m).
  virtual bool has_gradients() const { return false; }
  virtual void utility_gradient(int64_t profiles, int bidders, int items, int bidder,
                                const double* values, const double* bids, double* utility,
                                double* gradient) const;
  virtual Parameters parameters() const = 0;
};

struct Outcome {
  std::vector<double> allocation;  // (profiles, n, m)
  std::vector<double> payments;    // (profiles, n)
};
// Runs all profiles on the program's threads.
Outcome run(const Mechanism& mechanism, const std::vector<double>& bids);

struct ExactOptions {
  uint64_t seed = 0;
  Arguments arguments = {};  // by the names of `agora auction list`: {{"points", 20}}
};
// Any mechanism of `agora auction list` that is computed rather than trained.
std::unique_ptr<Mechanism> exact(std::string_view name, const Setting& setting,
                                 const ExactOptions& options = {});

void save(const Mechanism& mechanism, const std::string& file);  // .safetensors or .json
std::unique_ptr<Mechanism> load(const std::string& file);

}  // namespace agora::auctions
