#include "auctions/run_bids.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

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

constexpr int64_t kBatch = 16384;  // profiles in memory at a time, three times over
constexpr int64_t kSlice = 1024;   // profiles of one part of the parallel work

// Some profiles on their way from the source to the files.
struct Batch {
  int64_t first = 0;
  std::vector<std::string> names;             // (profiles)
  std::vector<double> bids, allocation, won;  // (profiles, n, m); won: drawn, 0 and 1
  std::vector<double> payments, charged;      // (profiles, n); charged: drawn
  std::vector<std::array<CsvRow, 2>> rows;    // (slices, files)
  int64_t size() const { return static_cast<int64_t>(names.size()); }
  int64_t slices() const { return (size() + kSlice - 1) / kSlice; }
};

void draw(Batch& batch, int64_t begin, int64_t end, int n, int m, uint64_t seed) {
  for (int64_t k = begin; k < end; ++k) {
    const int64_t profile = batch.first + k;
    Rng rng(seed, kDrawStream, static_cast<uint32_t>(profile >> 32),
            static_cast<uint32_t>(profile));
    for (int j = 0; j < m; ++j) {
      double left = rng.uniform();
      for (int i = 0; i < n; ++i) {
        const int64_t cell = (k * n + i) * m + j;
        if ((left -= batch.allocation[cell]) >= 0.0) continue;
        batch.won[cell] = 1.0;
        break;
      }
    }
    for (int i = 0; i < n; ++i) {
      double expected = 0.0, realised = 0.0;
      for (int j = 0; j < m; ++j) {
        const int64_t cell = (k * n + i) * m + j;
        expected += batch.allocation[cell] * batch.bids[cell];
        realised += batch.won[cell] * batch.bids[cell];
      }
      if (expected > 0.0)
        batch.charged[k * n + i] = batch.payments[k * n + i] * realised / expected;
    }
  }
}

class OutcomeFiles {
 public:
  OutcomeFiles(const RunOptions& options, int n, int m)
      : wide_(options.wide), drawn_(options.draw.has_value()), n_(n), m_(m) {
    std::vector<std::string> columns{"profile"};
    if (wide_) {
      const auto add = [&](const std::string& prefix) {
        for (int i = 1; i <= n; ++i) {
          for (int j = 1; j <= m; ++j) columns.push_back(fmt::format("{}b{}i{}", prefix, i, j));
        }
      };
      add("");
      for (int i = 1; i <= n; ++i) columns.push_back(fmt::format("payment{}", i));
      if (drawn_) {
        add("won_");
        for (int i = 1; i <= n; ++i) columns.push_back(fmt::format("charged{}", i));
      }
      open(options.out, columns);
      return;
    }
    columns.insert(columns.end(), {"bidder", "item", "probability"});
    if (drawn_) columns.push_back("won");
    open(options.out, columns);
    const std::filesystem::path path(options.out);
    const std::filesystem::path beside =
        path.parent_path() / (path.stem().string() + "-payments" + path.extension().string());
    columns = {"profile", "bidder", "payment"};
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
    writers_.push_back(std::make_unique<CsvWriter>(file, columns));
    files_.push_back(file);
  }

  void add_wide(const Batch& batch, int64_t k, CsvRow& row) const {
    const int64_t size = int64_t{n_} * m_;
    row.add(batch.names[k]);
    for (int64_t e = k * size; e < (k + 1) * size; ++e) row.add(batch.allocation[e]);
    for (int64_t e = k * n_; e < (k + 1) * n_; ++e) row.add(batch.payments[e]);
    if (drawn_) {
      for (int64_t e = k * size; e < (k + 1) * size; ++e) row.add(batch.won[e]);
      for (int64_t e = k * n_; e < (k + 1) * n_; ++e) row.add(batch.charged[e]);
    }
    row.end();
  }

  void add_long(const Batch& batch, int64_t k, std::array<CsvRow, 2>& rows) const {
    for (int i = 0; i < n_; ++i) {
      const int64_t at = k * n_ + i;
      for (int j = 0; j < m_; ++j) {
        rows[0].add(batch.names[k]).add(i + 1).add(j + 1).add(batch.allocation[at * m_ + j]);
        if (drawn_) rows[0].add(batch.won[at * m_ + j]);
        rows[0].end();
      }
      rows[1].add(batch.names[k]).add(i + 1).add(batch.payments[at]);
      if (drawn_) rows[1].add(batch.charged[at]);
      rows[1].end();
    }
  }

  bool wide_, drawn_;
  int n_, m_;
  std::vector<std::unique_ptr<CsvWriter>> writers_;
  std::vector<std::string> files_;
};

// Reads the next profiles, each inside the declared domain.
class Reading {
 public:
  Reading(const BidSource& source, const std::optional<Setting>& domain)
      : source_(source), setting_(domain) {
    for (int i = 0; domain && i < source.bidders; ++i) {
      for (int j = 0; j < source.items; ++j) domain_.push_back(domain->domain(i, j));
    }
  }

  void fill(Batch& batch) {
    batch.first = profiles_;
    batch.names.clear();
    batch.bids.clear();
    while (batch.size() < kBatch && source_.next(profile_)) {
      for (size_t e = 0; e < domain_.size(); ++e) {
        if (profile_.bids[e] < domain_[e].low || profile_.bids[e] > domain_[e].high) refuse(e);
      }
      batch.names.push_back(profile_.name);
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
        printable(profile_.name), profile_.bids[e], e / source_.items + 1, e % source_.items + 1,
        domain_[e].low, domain_[e].high, setting_->text());
  }

  const BidSource& source_;
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
  return {reader->bidders(), reader->items(), file, [reader](BidProfile& profile) {
            if (!reader->next(profile.bids)) return false;
            profile.name = reader->profile();
            profile.line = reader->line();
            return true;
          }};
}

BidSource bids_from_setting(const Setting& setting, uint64_t seed, int64_t profiles) {
  auto next = std::make_shared<int64_t>(0);
  return {setting.bidders(), setting.items(), "", [=](BidProfile& profile) {
            if (*next >= profiles) return false;
            profile.bids.resize(static_cast<size_t>(setting.bidders()) * setting.items());
            setting.sample(seed, kEvaluationStream, (*next)++, 1, profile.bids.data());
            profile.name = std::to_string(*next);
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
  Reading reading(source, options.domain);
  Batch written, current, next;
  reading.fill(current);
  if (current.size() == 0) {
    throw user_error("{}: expected at least one profile, found none", source.file);
  }
  OutcomeFiles files(options, n, m);
  RunSummary summary;
  const auto run_slice = [&](int64_t slice) {
    const int64_t begin = slice * kSlice, end = std::min(begin + kSlice, current.size());
    run_checked(mechanism, end - begin, n, m, current.bids.data() + begin * n * m,
                current.allocation.data() + begin * n * m, current.payments.data() + begin * n);
    if (options.draw) draw(current, begin, end, n, m, *options.draw);
    files.format(current, begin, end, current.rows[slice]);
  };
  // While some parts run the current batch, one reads the next and one writes the last.
  while (current.size() > 0 || written.size() > 0) {
    current.allocation.resize(current.bids.size());
    current.payments.resize(current.size() * n);
    current.won.assign(options.draw ? current.bids.size() : 0, 0.0);
    current.charged.assign(options.draw ? current.payments.size() : 0, 0.0);
    current.rows.resize(current.slices());
    default_pool().run(2 + current.slices(), [&](int64_t part) {
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
