#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/checkpoints.h"

namespace agora {

// The state of one learner in one file, written over and over, every ten seconds. `about` says
// whose it is: a file of another one is the user's mistake.
class CheckpointFile : public Checkpoints {
 public:
  CheckpointFile(std::string path, std::map<std::string, std::string> about);

  std::optional<Checkpoint> latest() const override;
  void save(int64_t step, std::vector<StoredTensor> tensors, const Json& extra) override;
  bool save_is_due() const override;

 private:
  std::string path_;
  std::map<std::string, std::string> about_;
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
};

}  // namespace agora
