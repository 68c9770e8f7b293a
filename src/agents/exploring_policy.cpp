#include "agents/exploring_policy.h"

#include <algorithm>

#include "agents/streams.h"
#include "agents/traces.h"
#include "base/error.h"

namespace agora::agents {
namespace {

class Exploring : public Policy {
 public:
  Exploring(std::vector<std::unique_ptr<Policy>> members, Link link,
            std::unique_ptr<Policy> explorer, int64_t rows, const Exploration& how)
      : members_(std::move(members)),
        link_(link),
        explorer_(std::move(explorer)),
        how_(how),
        rows_(static_cast<size_t>(rows), Row(space().observation)),
        actions_(static_cast<size_t>(space().actions)),
        said_(members_.size() * rows_.size() * actions_) {}

  const Space& space() const override { return members_[0]->space(); }

  void logits(std::span<const std::byte> observations, int64_t rows,
              std::span<float> out) override {
    CHECK(rows <= std::ssize(rows_), "{} rows, planned for {}", rows, rows_.size());
    const size_t numbers = static_cast<size_t>(rows) * actions_;
    for (size_t m = 0; m < members_.size(); ++m) {
      members_[m]->logits(observations, rows, std::span(said_).subspan(m * numbers, numbers));
    }
    const auto bytes = static_cast<size_t>(space().observation.bytes());
    const auto wide = static_cast<size_t>(explorer_->space().observation.bytes());
    extended_.resize(rows_.size() * wide);
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      rows_[row].trace.see(observations.subspan(row * bytes, bytes),
                           std::span(extended_).subspan(row * wide, wide));
    }
    explorer_->logits(extended_, rows, out);
    std::vector<float> one(members_.size() * actions_);
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      for (size_t m = 0; m < members_.size(); ++m) {
        const auto own = std::span(one).subspan(m * actions_, actions_);
        std::copy_n(&said_[m * numbers + row * actions_], actions_, own.begin());
        to_probabilities(own);
      }
      if (!explores(row, one)) link_logits(link_, one, out.subspan(row * actions_, actions_));
    }
  }

  void forget(int64_t row) override {
    rows_[row].trace.clear();
    rows_[row].left = 0;
  }

 private:
  struct Row {
    explicit Row(const ObservationSpace& space) : trace(space) {}
    Trace trace;
    int64_t left = 0;    // steps that the explorer goes on for
    uint32_t steps = 0;  // of all episodes
  };

  bool explores(size_t at, std::span<const float> probabilities) {
    Row& row = rows_[at];
    const uint32_t step = row.steps++;
    if (row.left == 0) {
      if (agreement(probabilities, std::ssize(members_)) >= how_.agree) return false;
      Rng rng(0, stream(Stream::kExploring), step, static_cast<uint32_t>(at));
      row.left = exploring_steps(how_.steps, rng);
    }
    --row.left;
    return true;
  }

  std::vector<std::unique_ptr<Policy>> members_;
  Link link_;
  std::unique_ptr<Policy> explorer_;
  Exploration how_;
  std::vector<Row> rows_;
  size_t actions_;
  std::vector<float> said_;          // (members, rows, actions)
  std::vector<std::byte> extended_;  // (rows, bytes with the trace)
};

}  // namespace

std::unique_ptr<Policy> exploring(std::vector<std::unique_ptr<Policy>> members, Link link,
                                  std::unique_ptr<Policy> explorer, int64_t rows,
                                  const Exploration& how) {
  return std::make_unique<Exploring>(std::move(members), link, std::move(explorer), rows, how);
}

}  // namespace agora::agents
