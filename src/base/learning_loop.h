#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/checkpoints.h"
#include "base/json.h"
#include "base/metrics.h"

namespace agora {

using NamedNumbers = std::vector<std::pair<std::string, double>>;  // in the order of their columns

// Who learns step by step and can be left after any of them: a network, a table, an agent in its
// environment. Restored, it goes on with the same bits, however the steps are cut into calls.
class Resumable {
 public:
  virtual ~Resumable() = default;
  virtual int64_t step() const = 0;   // so many are done ...
  virtual int64_t total() const = 0;  // ... of these
  // An exception, Interrupted among them, leaves it as it was after some whole step.
  virtual void advance(int64_t steps) = 0;
  virtual std::vector<StoredTensor> tensors() const = 0;
  virtual Json extra() const { return nullptr; }  // its state that is no tensor
  virtual void restore(const Checkpoint& checkpoint) = 0;
  virtual NamedNumbers numbers() = 0;  // what it saw since the last call
};

// How a learner is led to its end.
struct LearningLoop {
  Checkpoints* kept = nullptr;        // null: nothing is saved
  MetricsSink* metrics = nullptr;     // null: nothing is logged
  int64_t log_every = 0;              // steps between two rows of numbers; 0: none are asked for
  std::string title = {}, unit = {};  // of the progress; no title: none is shown
  std::function<std::string(const NamedNumbers&)> note = {};  // beside the progress
  std::function<void()> begins = {};                          // the latest checkpoint is restored

  // The learner is looked at `looks` times, the last time at its end.
  int64_t looks = 0;
  std::function<Json(int64_t step)> look = {};
  std::function<void(int64_t step)> before_share = {};  // of the steps that lead to the next look
};

// Goes on from the latest checkpoint to the end, saves now and then and at the end. A signal is
// answered within moments: it saves and throws Interrupted. Returns what was seen, look by look.
Json learn(Resumable& learner, const LearningLoop& loop);

}  // namespace agora
