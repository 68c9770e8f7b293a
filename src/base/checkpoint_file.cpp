#include "base/checkpoint_file.h"

#include <filesystem>

#include "base/error.h"
#include "base/signals.h"

namespace agora {

using Clock = std::chrono::steady_clock;

CheckpointFile::CheckpointFile(std::string path, std::map<std::string, std::string> about)
    : path_(std::move(path)), about_(std::move(about)) {}

std::optional<Checkpoint> CheckpointFile::latest() const {
  if (!std::filesystem::exists(path_)) return std::nullopt;
  Checkpoint found{.step = 0, .tensors = read_safetensors(path_), .extra = nullptr};
  for (const auto& [what, expected] : about_) {
    const auto given = found.tensors.metadata.find(what);
    if (given == found.tensors.metadata.end() || given->second != expected) {
      throw user_error("{}: it is of another training: its {} differs", path_, what);
    }
  }
  found.step = found.tensors.at("iteration", {1}).values<int64_t>()[0];
  return found;
}

void CheckpointFile::save(int64_t, std::vector<StoredTensor> tensors, const Json&) {
  write_safetensors(path_, {.tensors = std::move(tensors), .metadata = about_, .path = path_});
  saved_ = Clock::now();
}

bool CheckpointFile::save_is_due() const {
  return stop_requested() || Clock::now() - saved_ >= std::chrono::seconds(10);
}

}  // namespace agora
