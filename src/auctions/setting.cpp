#include "auctions/setting.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "auctions/limits.h"
#include "base/error.h"
#include "base/signals.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int64_t kProfilesPerPart = 1024;
constexpr double kSearchQuantile = 1.0 - 1e-5;  // where a search of unbounded values ends

Rng profile_rng(uint64_t seed, uint32_t stream, int64_t profile) {
  return Rng(seed, stream, static_cast<uint32_t>(profile >> 32), static_cast<uint32_t>(profile));
}

void sample_profile(const SettingLaws& laws, uint64_t seed, uint32_t stream, int64_t profile,
                    double* values) {
  Rng rng = profile_rng(seed, stream, profile);
  if (laws.table) {
    const int64_t size = laws.table->profile_size();
    const auto total = static_cast<uint32_t>(laws.table->design_profiles());
    const double* row = laws.table->design.data() + int64_t{rng.below(total)} * size;
    std::copy(row, row + size, values);
    return;
  }
  for (int i = 0; i < laws.bidders; ++i) laws.rows[i]->sample(rng, values + i * laws.items);
}

// Calls body(first, last) for fixed slices of [0, count) on the program's threads.
template <typename Body>
void for_slices(int64_t count, Body body) {
  const int64_t parts = (count + kProfilesPerPart - 1) / kProfilesPerPart;
  default_pool().run(parts, [&](int64_t part) {
    throw_if_stopped();
    body(part * kProfilesPerPart, std::min(count, (part + 1) * kProfilesPerPart));
  });
}

// The marginals of a table; profiles are drawn from the table itself.
class TableRow : public RowLaw {
 public:
  explicit TableRow(std::vector<Law> marginals) : RowLaw(std::move(marginals)) {}
  std::string text() const override { return "table"; }
  bool item_symmetric() const override { return false; }
  void sample(Rng&, double*) const override { CHECK(false, "a table is drawn by profiles"); }
  Row at(double) const override { return nullptr; }
};

}  // namespace

Setting make_setting(std::string text, int items, std::vector<Row> rows) {
  auto laws = std::make_shared<SettingLaws>();
  laws->text = std::move(text);
  laws->bidders = static_cast<int>(rows.size());
  laws->items = items;
  laws->rows = std::move(rows);
  return setting_of(std::move(laws));
}

Setting make_setting(std::string text, ValueTable table) {
  auto laws = std::make_shared<SettingLaws>();
  laws->bidders = table.bidders;
  laws->items = table.items;
  for (int i = 0; i < table.bidders; ++i) {
    std::vector<Law> marginals;
    for (int j = 0; j < table.items; ++j) {
      std::vector<double> values;
      const int64_t size = table.profile_size();
      for (int64_t k = 0; k < table.design_profiles(); ++k) {
        values.push_back(table.design[k * size + i * table.items + j]);
      }
      marginals.push_back(
          empirical(std::move(values), fmt::format("{} b{}i{}", text, i + 1, j + 1)));
    }
    laws->rows.push_back(std::make_shared<TableRow>(std::move(marginals)));
  }
  laws->text = std::move(text);
  laws->table = std::make_shared<ValueTable>(std::move(table));
  return setting_of(std::move(laws));
}

std::vector<std::vector<Law>> marginal_laws(const Setting& setting) {
  std::vector<std::vector<Law>> laws;
  for (const Row& row : laws_of(setting).rows) laws.push_back(row->marginals());
  return laws;
}

const SettingLaws& laws_of(const Setting& setting) { return *setting.laws_; }
Setting setting_of(std::shared_ptr<const SettingLaws> laws) { return Setting(std::move(laws)); }

const std::string& Setting::text() const { return laws_->text; }
int Setting::bidders() const { return laws_->bidders; }
int Setting::items() const { return laws_->items; }
const Limits& Setting::limits() const { return laws_->limits; }
double Setting::budget(int bidder) const { return budget_of(laws_->limits, bidder); }

Interval Setting::domain(int bidder, int item) const {
  if (laws_->table) return {0.0, std::numeric_limits<double>::infinity()};
  return laws_->rows[bidder]->marginals()[item]->support();
}

Interval Setting::search_domain(int bidder, int item) const {
  const Distribution& law = *laws_->rows[bidder]->marginals()[item];
  Interval range = law.support();
  if (std::isinf(range.high)) range.high = law.quantile(kSearchQuantile);
  return range;
}

bool Setting::bidder_symmetric() const {
  if (laws_->table) return laws_->bidders == 1;
  for (int i = 1; i < laws_->bidders; ++i) {
    if (budget(i) != budget(0)) return false;
  }
  for (const Row& row : laws_->rows) {
    if (row->text() != laws_->rows[0]->text()) return false;
  }
  return true;
}

bool Setting::item_symmetric() const {
  for (const Row& row : laws_->rows) {
    if (!row->item_symmetric()) return false;
  }
  return true;
}

void Setting::sample(uint64_t seed, uint32_t stream, int64_t first, int64_t count,
                     double* values) const {
  const int64_t size = int64_t{bidders()} * items();
  for_slices(count, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      sample_profile(*laws_, seed, stream, first + k, values + k * size);
    }
  });
}

void Setting::sample(uint64_t seed, uint32_t stream, int64_t first, int64_t count,
                     float* values) const {
  const int64_t size = int64_t{bidders()} * items();
  for_slices(count, [&](int64_t begin, int64_t end) {
    std::vector<double> profile(size);
    for (int64_t k = begin; k < end; ++k) {
      sample_profile(*laws_, seed, stream, first + k, profile.data());
      for (int64_t e = 0; e < size; ++e) values[k * size + e] = static_cast<float>(profile[e]);
    }
  });
}

void Setting::sample_held_out(uint64_t seed, uint32_t stream, int64_t first, int64_t count,
                              double* values) const {
  if (!laws_->table) return sample(seed, stream, first, count, values);
  const ValueTable& table = *laws_->table;
  const int64_t size = table.profile_size();
  for (int64_t k = 0; k < count; ++k) {
    const double* row = table.held_out.data() + (first + k) % table.held_out_profiles() * size;
    std::copy(row, row + size, values + k * size);
  }
}

int64_t Setting::held_out() const { return laws_->table ? laws_->table->held_out_profiles() : 0; }

Setting Setting::at(double time) const {
  std::vector<Row> rows = laws_->rows;
  for (Row& row : rows) {
    if (Row later = row->at(time)) row = later;
  }
  auto laws = std::make_shared<SettingLaws>(*laws_);
  laws->rows = std::move(rows);
  return setting_of(std::move(laws));
}

bool values_end(const Setting& setting) {
  for (int i = 0; i < setting.bidders(); ++i) {
    for (int j = 0; j < setting.items(); ++j) {
      if (std::isinf(setting.domain(i, j).high)) return false;
    }
  }
  return true;
}

}  // namespace agora::auctions
