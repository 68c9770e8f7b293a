#include "auctions/run_bids.h"

#include <cmath>
#include <filesystem>
#include <memory>

#include "auctions/mechanism.h"
#include "auctions/profiles.h"
#include "auctions/setting.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/signals.h"

namespace agora::auctions {
namespace {

constexpr int64_t kBatch = 8192;

// Outcomes of one batch, with the drawn ones where asked for.
struct Batch {
  std::vector<std::string> names;
  std::vector<double> bids, allocation, payments;
  std::vector<double> won, charged;  // drawn: (profiles, n, m) of 0 and 1, (profiles, n)
  int64_t first = 0;
};

void draw(Batch& batch, int n, int m, uint64_t seed) {
  const auto profiles = static_cast<int64_t>(batch.names.size());
  batch.won.assign(batch.allocation.size(), 0.0);
  batch.charged.assign(batch.payments.size(), 0.0);
  for (int64_t k = 0; k < profiles; ++k) {
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

  void write(const Batch& batch) {
    for (size_t k = 0; k < batch.names.size(); ++k)
      wide_ ? write_wide(batch, k) : write_long(batch, k);
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

  void write_wide(const Batch& batch, size_t k) {
    CsvWriter& writer = *writers_[0];
    const size_t size = static_cast<size_t>(n_) * m_;
    writer.cell(batch.names[k]);
    for (size_t e = k * size; e < (k + 1) * size; ++e) writer.cell(batch.allocation[e]);
    for (size_t e = k * n_; e < (k + 1) * n_; ++e) writer.cell(batch.payments[e]);
    if (drawn_) {
      for (size_t e = k * size; e < (k + 1) * size; ++e) writer.cell(batch.won[e]);
      for (size_t e = k * n_; e < (k + 1) * n_; ++e) writer.cell(batch.charged[e]);
    }
    writer.end_row();
  }

  void write_long(const Batch& batch, size_t k) {
    for (int i = 0; i < n_; ++i) {
      const size_t row = k * n_ + i;
      for (int j = 0; j < m_; ++j) {
        CsvWriter& writer = *writers_[0];
        writer.cell(batch.names[k]);
        writer.cell(i + 1);
        writer.cell(j + 1);
        writer.cell(batch.allocation[row * m_ + j]);
        if (drawn_) writer.cell(batch.won[row * m_ + j]);
        writer.end_row();
      }
      CsvWriter& writer = *writers_[1];
      writer.cell(batch.names[k]);
      writer.cell(i + 1);
      writer.cell(batch.payments[row]);
      if (drawn_) writer.cell(batch.charged[row]);
      writer.end_row();
    }
  }

  bool wide_, drawn_;
  int n_, m_;
  std::vector<std::unique_ptr<CsvWriter>> writers_;
  std::vector<std::string> files_;
};

void check_domain(const Setting& setting, const BidProfile& profile) {
  for (int i = 0; i < setting.bidders(); ++i) {
    for (int j = 0; j < setting.items(); ++j) {
      const double bid = profile.bids[i * setting.items() + j];
      const Interval domain = setting.domain(i, j);
      if (bid >= domain.low && bid <= domain.high) continue;
      throw user_error(
          "{}: profile '{}': bid {} of bidder {} for item {} lies outside [{},{}] of "
          "setting \"{}\"",
          profile.place, profile.name, bid, i + 1, j + 1, domain.low, domain.high, setting.text());
    }
  }
}

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
  return {reader->bidders(), reader->items(), [reader](BidProfile& profile) {
            if (!reader->next(profile.bids)) return false;
            profile.name = reader->profile();
            profile.place = fmt::format("{}:{}", reader->file(), reader->line());
            return true;
          }};
}

BidSource bids_from_setting(const Setting& setting, uint64_t seed, int64_t profiles) {
  auto next = std::make_shared<int64_t>(0);
  return {setting.bidders(), setting.items(), [=](BidProfile& profile) {
            if (*next >= profiles) return false;
            profile.bids.resize(static_cast<size_t>(setting.bidders()) * setting.items());
            setting.sample(seed, kEvaluationStream, (*next)++, 1, profile.bids.data());
            profile.name = std::to_string(*next);
            profile.place = "--draw";
            return true;
          }};
}

RunSummary run_bids(const Mechanism& mechanism, const BidSource& source,
                    const RunOptions& options) {
  BidProfile profile;
  if (options.domain &&
      (options.domain->bidders() != source.bidders || options.domain->items() != source.items)) {
    throw user_error("expected bids of setting \"{}\", {}x{}, found {}x{}", options.domain->text(),
                     options.domain->bidders(), options.domain->items(), source.bidders,
                     source.items);
  }
  if (!source.next(profile)) throw user_error("no profiles of bids to run {} on", mechanism.name());
  const int n = source.bidders, m = source.items;
  OutcomeFiles files(options, n, m);
  RunSummary summary;
  Batch batch;
  for (bool more = true; more;) {
    batch.names.clear();
    batch.bids.clear();
    batch.first = summary.profiles;
    do {
      if (options.domain) check_domain(*options.domain, profile);
      batch.names.push_back(profile.name);
      batch.bids.insert(batch.bids.end(), profile.bids.begin(), profile.bids.end());
      more = source.next(profile);
    } while (more && static_cast<int64_t>(batch.names.size()) < kBatch);
    const auto count = static_cast<int64_t>(batch.names.size());
    batch.allocation.resize(batch.bids.size());
    batch.payments.resize(count * n);
    run_parallel(mechanism, count, n, m, batch.bids.data(), batch.allocation.data(),
                 batch.payments.data());
    if (options.draw) draw(batch, n, m, *options.draw);
    files.write(batch);
    for (double payment : batch.payments) summary.revenue += payment;
    for (double payment : batch.charged) summary.drawn_revenue += payment;
    summary.profiles += count;
    throw_if_stopped();
  }
  summary.revenue /= static_cast<double>(summary.profiles);
  summary.drawn_revenue /= static_cast<double>(summary.profiles);
  summary.files = files.commit();
  return summary;
}

}  // namespace agora::auctions
