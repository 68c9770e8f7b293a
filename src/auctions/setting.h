#pragma once
#include <agora/auctions.h>

#include <memory>
#include <string>
#include <vector>

#include "auctions/distribution.h"

namespace agora::auctions {

// The law of one bidder's values of all items.
class RowLaw {
 public:
  virtual ~RowLaw() = default;
  virtual std::string text() const = 0;
  virtual void sample(Rng& rng, double* row) const = 0;  // row (items)
  virtual bool independent() const { return false; }     // between items
  virtual bool item_symmetric() const;  // by the marginals' names, unless overridden
  virtual std::shared_ptr<const RowLaw> at(double time) const = 0;
  const std::vector<Law>& marginals() const { return marginals_; }

 protected:
  explicit RowLaw(std::vector<Law> marginals) : marginals_(std::move(marginals)) {}
  std::vector<Law> marginals_;  // (items)
};
using Row = std::shared_ptr<const RowLaw>;

Row independent_row(std::vector<Law> items);
// Gaussian copula with correlation `rho` between the normal scores of any two items.
Row copula_row(double rho, std::vector<Law> items);
// Two items, uniform on x, y >= 0, x + y <= side.
Row triangle_row(double side);

// Past profiles, split into those for design and those for evaluation.
struct ValueTable {
  int bidders = 0, items = 0;
  std::vector<double> design, held_out;  // (profiles, bidders, items)
  int64_t profile_size() const { return int64_t{bidders} * items; }
  int64_t design_profiles() const { return static_cast<int64_t>(design.size()) / profile_size(); }
  int64_t held_out_profiles() const {
    return static_cast<int64_t>(held_out.size()) / profile_size();
  }
};

struct SettingLaws {
  std::string text;
  int bidders = 0, items = 0;
  std::vector<Row> rows;                    // (bidders); the marginals also when there is a table
  std::shared_ptr<const ValueTable> table;  // null: draw from the rows
  Limits limits = {};
};

const SettingLaws& laws_of(const Setting& setting);
Setting setting_of(std::shared_ptr<const SettingLaws> laws);
Setting make_setting(std::string text, int items, std::vector<Row> rows);
Setting make_setting(std::string text, ValueTable table);

std::vector<std::vector<Law>> marginal_laws(const Setting& setting);  // (bidders, items)
bool values_end(const Setting& setting);  // whether every value has a highest one

// The grammar's form of a named setting; nothing if `text` starts with a number, an error if it
// is no known name.
std::optional<std::string> expand_name(std::string_view text);

// Streams of random numbers; one per purpose, so that no two purposes share draws.
enum Stream : uint32_t {
  kEvaluationStream = 101,
  kDesignStream = 102,
  kAuditStream = 103,
  kSearchStream = 104,
  kDrawStream = 105,
  kReductionStream = 106,
  kTrainingStream = 107,
  kMisreportStream = 108,
  kWeightStream = 109,
  kOrderStream = 110,
  kCandidateStream = 111,
  kRestartStream = 1000,  // and later: one per restart
};

}  // namespace agora::auctions
