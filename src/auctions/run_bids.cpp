#include "auctions/run_bids.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>

#include "auctions/limits.h"
#include "auctions/lottery.h"
#include "auctions/mechanism.h"
#include "auctions/profiles.h"
#include "auctions/setting.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int64_t kFirstBatch = 1024, kBatch = 16384;  // profiles in memory, three times over
constexpr int64_t kSlice = 512, kSliceOnAGpu = 1024;   // profiles of a part of the parallel work

// Some profiles on their way from the source to the files.
struct Batch {
  int64_t first = 0;
  int64_t profiles = 0;
  std::vector<std::string> labels;            // (profiles, labels)
  std::vector<double> bids, allocation, won;  // (profiles, n, m); won: drawn, 0 and 1
  std::vector<double> payments, charged;      // (profiles, n); charged: drawn
  std::vector<std::array<CsvRow, 2>> rows;    // (slices, files)
  int64_t size() const { return profiles; }
  int64_t slices(int64_t slice) const { return (size() + slice - 1) / slice; }
};

// A bidder pays in proportion to what it wins. Where that could be more than its budget it pays for
// the lottery, whatever it wins.
double charge(double payment, double expected, double realised, double most, double budget) {
  if (!(expected > 0.0)) return 0.0;
  return payment * most / expected <= budget ? payment * realised / expected : payment;
}

void draw(Batch& batch, int64_t begin, int64_t end, int n, int m, const Limits& limits,
          uint64_t seed) {
  const bool one_each = limits.demand == Demand::kUnit && m > 1;
  for (int64_t k = begin; k < end; ++k) {
    const int64_t profile = batch.first + k;
    Rng rng(seed, kDrawStream, static_cast<uint32_t>(profile >> 32),
            static_cast<uint32_t>(profile));
    if (one_each) {
      draw_matching(rng, n, m, batch.allocation.data() + k * n * m, batch.won.data() + k * n * m);
    }
    for (int j = 0; !one_each && j < m; ++j) {
      double left = rng.uniform();
      for (int i = 0; i < n; ++i) {
        const int64_t cell = (k * n + i) * m + j;
        if ((left -= batch.allocation[cell]) >= 0.0) continue;
        batch.won[cell] = 1.0;
        break;
      }
    }
    for (int i = 0; i < n; ++i) {
      double expected = 0.0, realised = 0.0, most = 0.0;
      for (int j = 0; j < m; ++j) {
        const int64_t cell = (k * n + i) * m + j;
        expected += batch.allocation[cell] * batch.bids[cell];
        realised += batch.won[cell] * batch.bids[cell];
        if (batch.allocation[cell] > 0.0) most += batch.bids[cell];
      }
      batch.charged[k * n + i] =
          charge(batch.payments[k * n + i], expected, realised, most, budget_of(limits, i));
    }
  }
}

// How bidders and items are called in the outcome.
struct Names {
  explicit Names(const BidSource& source)
      : named(!source.bidder_names.empty() || !source.item_names.empty()),
        bidders(counted(source.bidder_names, source.bidders)),
        items(counted(source.item_names, source.items)) {}

  static std::vector<std::string> counted(std::vector<std::string> names, int size) {
    for (int k = static_cast<int>(names.size()); k < size; ++k) {
      names.push_back(std::to_string(k + 1));
    }
    return names;
  }
  // Columns of the wide form: b1i2 and payment1, or alice.house and payment.alice.
  std::string cell(size_t i, size_t j) const {
    return fmt::format(fmt::runtime(named ? "{}.{}" : "b{}i{}"), bidders[i], items[j]);
  }
  std::string of_bidder(const char* what, size_t i) const {
    return fmt::format("{}{}{}", what, named ? "." : "", bidders[i]);
  }

  bool named;
  std::vector<std::string> bidders, items;
};

class OutcomeFiles {
 public:
  OutcomeFiles(const RunOptions& options, const BidSource& source)
      : wide_(options.wide),
        drawn_(options.draw.has_value()),
        n_(source.bidders),
        m_(source.items),
        labels_(source.labels.size()),
        names_(source),
        bids_(source.file) {
    std::vector<std::string> columns = source.labels;
    if (wide_) {
      const auto add = [&](const std::string& prefix, const char* paid) {
        for (int i = 0; i < n_; ++i) {
          for (int j = 0; j < m_; ++j) columns.push_back(prefix + names_.cell(i, j));
        }
        for (int i = 0; i < n_; ++i) columns.push_back(names_.of_bidder(paid, i));
      };
      add("", "payment");
      if (drawn_) add("won_", "charged");
      open(options.out, columns);
      return;
    }
    columns.insert(columns.end(), {"bidder", "item", "probability"});
    if (drawn_) columns.push_back("won");
    open(options.out, columns);
    const std::filesystem::path path(options.out);
    const std::filesystem::path beside =
        path.parent_path() / (path.stem().string() + "-payments" + path.extension().string());
    columns = source.labels;
    columns.insert(columns.end(), {"bidder", "payment"});
    if (drawn_) columns.push_back("charged");
    open(beside.string(), columns);
  }

  // Profiles begin .. end-1 as rows of the first and, in long form, of the second file.
  void format(const Batch& batch, int64_t begin, int64_t end, std::array<CsvRow, 2>& rows) const {
    for (CsvRow& each : rows) each.clear();
    for (int64_t k = begin; k < end; ++k) {
      wide_ ? add_wide(batch, k, rows[0]) : add_long(batch, k, rows);
    }
  }
  void write(const Batch& batch) {
    for (const auto& rows : batch.rows) {
      for (size_t file = 0; file < writers_.size(); ++file) writers_[file]->rows(rows[file]);
    }
  }
  std::vector<std::string> commit() {
    for (auto& writer : writers_) writer->commit();
    return files_;
  }

 private:
  void open(const std::string& file, const std::vector<std::string>& columns) {
    std::set<std::string_view> known;
    for (const std::string& column : columns) {
      if (!known.insert(column).second) {
        throw user_error("{}: the outcome would have two columns '{}': rename the one of the bids",
                         bids_, printable(column));
      }
    }
    writers_.push_back(std::make_unique<CsvWriter>(file, columns));
    files_.push_back(file);
  }

  CsvRow& add_labels(const Batch& batch, int64_t k, CsvRow& row) const {
    for (size_t e = 0; e < labels_; ++e) row.add(batch.labels[k * labels_ + e]);
    return row;
  }

  void add_wide(const Batch& batch, int64_t k, CsvRow& row) const {
    const size_t size = static_cast<size_t>(n_) * m_;
    const auto add = [&](const std::vector<double>& all, size_t count) {
      row.add(std::span(all).subspan(k * count, count));
    };
    add_labels(batch, k, row);
    add(batch.allocation, size);
    add(batch.payments, n_);
    if (drawn_) {
      add(batch.won, size);
      add(batch.charged, n_);
    }
    row.end();
  }

  void add_long(const Batch& batch, int64_t k, std::array<CsvRow, 2>& rows) const {
    for (int i = 0; i < n_; ++i) {
      const int64_t at = k * n_ + i;
      for (int j = 0; j < m_; ++j) {
        add_labels(batch, k, rows[0])
            .add(names_.bidders[i])
            .add(names_.items[j])
            .add(batch.allocation[at * m_ + j]);
        if (drawn_) rows[0].add(batch.won[at * m_ + j]);
        rows[0].end();
      }
      add_labels(batch, k, rows[1]).add(names_.bidders[i]).add(batch.payments[at]);
      if (drawn_) rows[1].add(batch.charged[at]);
      rows[1].end();
    }
  }

  bool wide_, drawn_;
  int n_, m_;
  size_t labels_;
  Names names_;
  std::string bids_;  // where they came from, for messages
  std::vector<std::unique_ptr<CsvWriter>> writers_;
  std::vector<std::string> files_;
};

// Reads the next profiles, each inside the declared domain.
class Reading {
 public:
  Reading(const BidSource& source, const std::optional<Setting>& domain)
      : source_(source), names_(source), setting_(domain) {
    for (int i = 0; domain && i < source.bidders; ++i) {
      for (int j = 0; j < source.items; ++j) domain_.push_back(domain->domain(i, j));
    }
  }

  // The first batches are small, as nothing else is done while the very first is read.
  void fill(Batch& batch) {
    const int64_t most = std::clamp(profiles_, kFirstBatch, kBatch);
    batch.first = profiles_;
    batch.profiles = 0;
    batch.labels.clear();
    batch.bids.clear();
    while (batch.size() < most && source_.next(profile_)) {
      for (size_t e = 0; e < domain_.size(); ++e) {
        if (profile_.bids[e] < domain_[e].low || profile_.bids[e] > domain_[e].high) refuse(e);
      }
      ++batch.profiles;
      std::move(profile_.label.begin(), profile_.label.end(), std::back_inserter(batch.labels));
      batch.bids.insert(batch.bids.end(), profile_.bids.begin(), profile_.bids.end());
    }
    profiles_ += batch.size();
  }
  int64_t profiles() const { return profiles_; }

 private:
  [[noreturn]] void refuse(size_t e) const {
    throw user_error(
        "{}: profile '{}': bid {} of bidder {} for item {} lies outside [{},{}] of setting \"{}\"",
        source_.file.empty() ? "the draws" : fmt::format("{}:{}", source_.file, profile_.line),
        printable(fmt::format("{}", fmt::join(profile_.label, ", "))), profile_.bids[e],
        printable(names_.bidders[e / source_.items]), printable(names_.items[e % source_.items]),
        domain_[e].low, domain_[e].high, setting_->text());
  }

  const BidSource& source_;
  Names names_;
  const std::optional<Setting>& setting_;
  std::vector<Interval> domain_;  // (bidders, items); empty: any bid
  BidProfile profile_;
  int64_t profiles_ = 0;
};

}  // namespace

BidSource bids_from_file(const std::string& file, const Mechanism& mechanism) {
  auto reader = std::make_shared<ProfileReader>(file);
  if (reader->bidders() == 0)
    throw user_error("{}: expected at least one profile, found none", file);
  if (!mechanism.accepts(reader->bidders(), reader->items())) {
    throw user_error("{}: expected bids of {} bidders for {} items, as {} is, found {} for {}",
                     file, mechanism.bidders(), mechanism.items(), mechanism.name(),
                     reader->bidders(), reader->items());
  }
  const auto next = [reader](BidProfile& profile) {
    if (!reader->next(profile.bids)) return false;
    profile.label = reader->label();
    profile.line = reader->line();
    return true;
  };
  return {reader->bidders(),      reader->items(),     file, next, reader->labels(),
          reader->bidder_names(), reader->item_names()};
}

BidSource bids_from_setting(const Setting& setting, uint64_t seed, int64_t profiles) {
  auto next = std::make_shared<int64_t>(0);
  return {setting.bidders(), setting.items(), "", [=](BidProfile& profile) {
            if (*next >= profiles) return false;
            profile.bids.resize(static_cast<size_t>(setting.bidders()) * setting.items());
            setting.sample(seed, kEvaluationStream, (*next)++, 1, profile.bids.data());
            profile.label = {std::to_string(*next)};
            return true;
          }};
}

RunSummary run_bids(const Mechanism& mechanism, const BidSource& source,
                    const RunOptions& options) {
  if (options.domain &&
      (options.domain->bidders() != source.bidders || options.domain->items() != source.items)) {
    throw user_error("expected bids of setting \"{}\", {}x{}, found {}x{}", options.domain->text(),
                     options.domain->bidders(), options.domain->items(), source.bidders,
                     source.items);
  }
  const int n = source.bidders, m = source.items;
  if (!mechanism.accepts(n, m)) {
    throw user_error("{} is for {}x{}, the bids are {}x{}", mechanism.name(), mechanism.bidders(),
                     mechanism.items(), n, m);
  }
  if (options.domain) check_fits(mechanism, *options.domain);
  const Limits limits = mechanism.parameters().limits;
  Reading reading(source, options.domain);
  Batch written, current, next;
  reading.fill(current);
  if (current.size() == 0) {
    throw user_error("{}: expected at least one profile, found none", source.file);
  }
  OutcomeFiles files(options, source);
  RunSummary summary;
  const int64_t most = std::clamp(mechanism.profiles_at_once(), kSlice, kSliceOnAGpu);
  const auto run_slice = [&](int64_t slice) {
    const int64_t begin = slice * most, end = std::min(begin + most, current.size());
    run_checked(mechanism, end - begin, n, m, current.bids.data() + begin * n * m,
                current.allocation.data() + begin * n * m, current.payments.data() + begin * n);
    if (options.draw) draw(current, begin, end, n, m, limits, *options.draw);
    files.format(current, begin, end, current.rows[slice]);
  };
  // While some parts run the current batch, one reads the next and one writes the last.
  while (current.size() > 0 || written.size() > 0) {
    current.allocation.resize(current.bids.size());
    current.payments.resize(current.size() * n);
    current.won.assign(options.draw ? current.bids.size() : 0, 0.0);
    current.charged.assign(options.draw ? current.payments.size() : 0, 0.0);
    current.rows.resize(current.slices(most));
    default_pool().run(2 + current.slices(most), [&](int64_t part) {
      if (part == 0) {
        reading.fill(next);
      } else if (part == 1) {
        files.write(written);
      } else {
        run_slice(part - 2);
      }
    });
    for (double payment : current.payments) summary.revenue += payment;
    for (double payment : current.charged) summary.drawn_revenue += payment;
    std::swap(written, current);
    std::swap(current, next);
    throw_if_stopped();
  }
  summary.profiles = reading.profiles();
  summary.revenue /= static_cast<double>(summary.profiles);
  summary.drawn_revenue /= static_cast<double>(summary.profiles);
  summary.files = files.commit();
  return summary;
}

}  // namespace agora::auctions
