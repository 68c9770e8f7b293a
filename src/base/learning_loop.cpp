#include "base/learning_loop.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/error.h"
#include "base/progress.h"
#include "base/signals.h"

namespace agora {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Steps are taken in pieces of about this time: signals are seen in between.
constexpr milliseconds kShortPiece{20}, kLongPiece{100};

class Loop {
 public:
  Loop(Resumable& learner, const LearningLoop& how) : learner_(learner), how_(how) {
    CHECK((how.looks > 0) == static_cast<bool>(how.look), "{} looks", how.looks);
    const int64_t total = learner.total();
    share_ = how.look ? std::max<int64_t>(1, (total + how.looks - 1) / how.looks) : total;
    restore();
    if (how.begins) how.begins();
    if (!how.title.empty()) {
      progress_ = std::make_unique<Progress>(how.title, total, how.unit, learner.step());
    }
  }

  Json run() {
    while (true) {
      if (look_is_due()) look();
      const bool end = learner_.step() >= learner_.total();
      if (how_.kept != nullptr && saved_at_ != learner_.step() &&
          (end || how_.kept->save_is_due())) {
        save(state());
      }
      if (end) return std::move(seen_);
      throw_if_stopped();
      advance();
      log();
    }
  }

 private:
  struct State {
    int64_t step;
    std::vector<StoredTensor> tensors;
    Json extra;
  };

  State state() const {
    Json extra = learner_.extra();
    if (how_.look) extra = {{"learner", std::move(extra)}, {"seen", seen_}};
    return {learner_.step(), learner_.tensors(), std::move(extra)};
  }

  void save(State state) {
    if (how_.kept == nullptr) return;
    how_.kept->save(state.step, std::move(state.tensors), state.extra);
    saved_at_ = state.step;
  }

  void restore() {
    std::optional<Checkpoint> latest = how_.kept ? how_.kept->latest() : std::nullopt;
    if (!latest) return;
    const std::string& file = latest->tensors.path;
    if (how_.look) {
      seen_ = json_member<Json>(latest->extra, "seen", file);
      latest->extra = json_member<Json>(latest->extra, "learner", file);
    }
    learner_.restore(*latest);
    const int64_t step = learner_.step();
    if (step != latest->step || step > learner_.total()) {
      throw user_error("{}: it is of step {}, expected {} of at most {}", file, step, latest->step,
                       learner_.total());
    }
    const auto seen = static_cast<int64_t>(seen_.size());
    if (how_.look && (!seen_.is_array() || seen > looks_until(step) || seen < step / share_ - 1)) {
      throw user_error("{}: it has {} looks at step {}", file, seen, step);
    }
    saved_at_ = step;
  }

  // So many belong to the steps up to this one.
  int64_t looks_until(int64_t step) const {
    return step == learner_.total() ? (step + share_ - 1) / share_ : step / share_;
  }
  bool look_is_due() const {
    return how_.look && static_cast<int64_t>(seen_.size()) < looks_until(learner_.step());
  }

  // A look that is interrupted is made again: what it changed of the learner is not saved.
  void look() {
    State before = state();
    try {
      seen_.push_back(how_.look(learner_.step()));
    } catch (const Interrupted&) {
      save(std::move(before));
      throw_if_stopped();
      throw;
    }
    saved_at_ = -1;
  }

  void advance() {
    const int64_t from = learner_.step();
    int64_t until = std::min({learner_.total(), from + piece_, (from / share_ + 1) * share_});
    if (how_.log_every > 0) until = std::min(until, (from / how_.log_every + 1) * how_.log_every);
    if (how_.before_share && from / share_ != begun_) {
      begun_ = from / share_;
      how_.before_share(begun_ * share_);
    }
    const auto began = Clock::now();
    try {
      learner_.advance(until - from);
    } catch (const Interrupted&) {
      if (learner_.step() == until) return;
      save(state());
      throw_if_stopped();  // with what was saved
      throw;
    }
    CHECK(learner_.step() == until, "step {} after {} more than {}", learner_.step(), until - from,
          from);
    const auto taken = Clock::now() - began;
    if (taken < kShortPiece && until - from == piece_) piece_ *= 2;
    if (taken > kLongPiece) piece_ = std::max<int64_t>(1, piece_ / 2);
  }

  void log() {
    const int64_t step = learner_.step();
    if (how_.log_every > 0 && (step % how_.log_every == 0 || step == learner_.total())) {
      const NamedNumbers numbers = learner_.numbers();
      for (const auto& [name, value] : numbers) {
        if (how_.metrics != nullptr) how_.metrics->record(step, name, value);
      }
      if (how_.note) note_ = how_.note(numbers);
    }
    if (progress_) progress_->update(step, note_);
  }

  Resumable& learner_;
  const LearningLoop& how_;
  int64_t share_;          // steps from look to look
  int64_t begun_ = -1;     // the share that before_share was told of
  int64_t piece_ = 1;      // steps at once
  int64_t saved_at_ = -1;  // the step of what is saved, if that is up to date
  Json seen_ = Json::array();
  std::unique_ptr<Progress> progress_;
  std::string note_;
};

}  // namespace

Json learn(Resumable& learner, const LearningLoop& loop) { return Loop(learner, loop).run(); }

}  // namespace agora
