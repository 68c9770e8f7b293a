#include "agents/remembering.h"

#include "base/thread_pool.h"

namespace agora::agents {
namespace {

class Remembering : public Policy {
 public:
  Remembering(std::unique_ptr<Policy> policy, int64_t rows, const MemoryOptions& how)
      : policy_(std::move(policy)),
        episodes_(static_cast<size_t>(rows),
                  EpisodeMemory(policy_->space().observation, policy_->space().actions, how)) {}

  const Space& space() const override { return policy_->space(); }

  void logits(std::span<const std::byte> observations, int64_t rows,
              std::span<float> out) override {
    policy_->logits(observations, rows, out);
    const auto bytes = static_cast<size_t>(space().observation.bytes());
    const auto actions = static_cast<size_t>(space().actions);
    default_pool().run(rows, [&](int64_t row) {
      episodes_[row].see(observations.subspan(row * bytes, bytes),
                         out.subspan(row * actions, actions));
    });
  }

  void did(std::span<const int32_t> actions) override {
    for (size_t row = 0; row < actions.size(); ++row) episodes_[row].did(actions[row]);
  }

  void forget(int64_t row) override {
    policy_->forget(row);
    episodes_[row].clear();
  }

 private:
  std::unique_ptr<Policy> policy_;
  std::vector<EpisodeMemory> episodes_;  // (rows)
};

}  // namespace

std::unique_ptr<Policy> remembering(std::unique_ptr<Policy> policy, int64_t rows,
                                    const MemoryOptions& how) {
  return std::make_unique<Remembering>(std::move(policy), rows, how);
}

}  // namespace agora::agents
