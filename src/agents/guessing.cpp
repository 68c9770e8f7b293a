#include "agents/guessing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "agents/replay.h"
#include "base/error.h"
#include "base/signals.h"
#include "nn/categorical.h"

namespace agora::agents {
namespace {

constexpr int64_t kRowsAtOnce = 500;

// Wrong guesses among so many that are each right with probability `right`, until one is.
double wrong_guesses(double right, int32_t guesses) {
  double sum = 0, still = 1;
  for (int32_t k = 0; k < guesses; ++k) sum += still *= 1 - right;
  return sum;
}

int64_t rank_of(std::span<const float> logits, int32_t label) {
  const float own = logits[static_cast<size_t>(label)];
  int64_t rank = 0;
  for (size_t other = 0; other < logits.size(); ++other) {
    rank += logits[other] > own || (logits[other] == own && other < static_cast<size_t>(label));
  }
  return rank;
}

class GuessingPolicy : public Policy {
 public:
  GuessingPolicy(Guessing how, std::unique_ptr<Policy> ranking, int64_t rows)
      : how_(how), ranking_(std::move(ranking)), tried_(static_cast<size_t>(rows)) {}

  const Space& space() const override { return ranking_->space(); }
  void forget(int64_t row) override { tried_[static_cast<size_t>(row)] = 0; }

  void logits(std::span<const std::byte> observations, int64_t rows,
              std::span<float> out) override {
    CHECK(rows <= static_cast<int64_t>(tried_.size()), "{} rows", rows);
    ranking_->logits(observations, rows, out);
    const auto labels = static_cast<size_t>(space().actions);
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      guess(tried_[row]++, out.subspan(row * labels, labels));
    }
  }

 private:
  void guess(int64_t tried, std::span<float> row) const {
    if (how_ == Guessing::kSquareRoot) {
      for (float& each : row) each /= 2;
      return;
    }
    if (how_ == Guessing::kUniformAfterFirst && tried > 0) {
      std::fill(row.begin(), row.end(), 0.0F);
      return;
    }
    if (how_ == Guessing::kElimination) {
      for (int64_t k = 0; k < tried % space().actions; ++k) {
        row[static_cast<size_t>(nn::most_likely(row))] = -std::numeric_limits<float>::infinity();
      }
    }
    value_logits(0, row);
  }

  Guessing how_;
  std::unique_ptr<Policy> ranking_;
  std::vector<int64_t> tried_;  // (rows): guesses of the episodes under way
};

}  // namespace

LabelledLevels labelled_levels(const std::string& environment, const Arguments& arguments,
                               const Levels& levels) {
  LabelledLevels made{.environment = environment, .arguments = arguments};
  // Kept, so that what all its levels share is made once.
  const auto like = make_environment(environment, {.count = 1, .arguments = arguments});
  made.space = like->space();
  for (int64_t k = 0; k < levels.size(); ++k) {
    throw_if_stopped();
    int32_t right = -1, several = 0;
    std::vector<std::byte> seen;
    try_every_action(environment, arguments, levels[k], made.space.actions,
                     [&](const Transition& tried) {
                       seen.assign(tried.seen.begin(), tried.seen.end());
                       if (tried.goes_on) return;
                       right = tried.action;
                       ++several;
                     });
    if (several != 1) {
      throw user_error("{}: {} actions end level {} at once, expected one: the right label",
                       environment, several, levels[k]);
    }
    made.labels.push_back(right);
    made.observations.insert(made.observations.end(), seen.begin(), seen.end());
  }
  return made;
}

std::unique_ptr<Policy> guessing_policy(Guessing how, std::unique_ptr<Policy> ranking,
                                        int64_t rows) {
  return std::make_unique<GuessingPolicy>(how, std::move(ranking), rows);
}

double expected_return(Guessing how, std::span<const float> logits, int32_t label) {
  const auto labels = static_cast<double>(logits.size());
  const int64_t rank = rank_of(logits, label);
  switch (how) {
    case Guessing::kSame:
      return rank == 0 ? 0 : -kGuesses;
    case Guessing::kUniformAfterFirst:
      return rank == 0 ? 0 : -1 - wrong_guesses(1 / labels, kGuesses - 1);
    case Guessing::kElimination:
      return -static_cast<double>(std::min<int64_t>(rank, kGuesses));
    case Guessing::kSquareRoot:
      break;
  }
  const double best = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float each : logits) sum += std::exp((each - best) / 2);
  return -wrong_guesses(std::exp((logits[static_cast<size_t>(label)] - best) / 2) / sum, kGuesses);
}

std::vector<float> logits_of(const SavedPolicy& policy, const LabelledLevels& levels) {
  const auto actor = make_policy(policy, kRowsAtOnce);
  const auto bytes = static_cast<size_t>(levels.space.observation.bytes());
  const auto labels = static_cast<size_t>(levels.space.actions);
  std::vector<float> all(static_cast<size_t>(levels.count()) * labels);
  for (int64_t first = 0; first < levels.count(); first += kRowsAtOnce) {
    const auto at = static_cast<size_t>(first);
    const auto rows = static_cast<size_t>(std::min(kRowsAtOnce, levels.count() - first));
    actor->logits(std::span(levels.observations).subspan(at * bytes, rows * bytes),
                  static_cast<int64_t>(rows), std::span(all).subspan(at * labels, rows * labels));
  }
  return all;
}

double mean_return(Guessing how, std::span<const float> logits, const LabelledLevels& levels) {
  const auto labels = static_cast<size_t>(levels.space.actions);
  double sum = 0;
  for (size_t k = 0; k < levels.labels.size(); ++k) {
    sum += expected_return(how, logits.subspan(k * labels, labels), levels.labels[k]);
  }
  return sum / static_cast<double>(levels.count());
}

}  // namespace agora::agents
