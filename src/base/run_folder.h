#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checkpoints.h"
#include "base/files.h"
#include "base/json.h"
#include "base/metrics.h"
#include "base/metrics_csv.h"
#include "base/safetensors.h"

namespace agora {

// A run is a folder:
//   config.toml                   what makes the run again: verb, options, program version, format
//   metrics.csv                   a row per reported step
//   checkpoint-STEP.safetensors   tensors; the caller's own JSON travels in the metadata
//   state.json                    the checkpoint that counts, and how long the logs were then
//   result.json                   there once the run is finished
// save() renames state.json into place last, so that one rename decides: a process killed at any
// moment leaves the old checkpoint or the new one, and a resumed run ends with the same bits.
class RunFolder : public Checkpoints {
 public:
  // settings: a flat object with "verb" and the resolved options. The folder must be new or empty.
  static RunFolder create(const std::filesystem::path& path, const Json& settings);
  // Goes on with a run. The folder is locked: a second process is told who holds it.
  static RunFolder open(const std::filesystem::path& path);
  // Goes on with the same run, or starts it; a run with other settings is a UserError.
  static RunFolder open_or_create(const std::filesystem::path& path, const Json& settings);

  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;
  ~RunFolder() override;

  const std::filesystem::path& path() const { return path_; }
  const Json& settings() const { return settings_; }

  std::optional<Checkpoint> latest() const override;
  void save(int64_t step, std::vector<StoredTensor> tensors, const Json& extra) override;
  void save(int64_t step, std::vector<StoredTensor> tensors) {
    save(step, std::move(tensors), nullptr);
  }
  bool save_is_due() const override;
  int64_t saved_step() const;  // of the latest checkpoint; -1 before the first
  void keep_last(int checkpoints) { kept_ = checkpoints; }  // 3 unless told

  MetricsSink& metrics();
  // A log that save() and open() treat like metrics.csv: cut back to the last checkpoint.
  AppendFile& append_file(const std::string& name);

  void finish(const Json& result);
  bool finished() const;

 private:
  explicit RunFolder(std::filesystem::path path);
  void lock();
  void load();
  void remove_old_checkpoints() const;
  void note_checkpoint() const;  // for whoever is interrupted

  std::filesystem::path path_;
  Json settings_;
  Json state_;  // of the last save; null before
  std::unique_ptr<MetricsCsv> metrics_;
  std::map<std::string, std::unique_ptr<AppendFile>> logs_;
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
  int kept_ = 3;
  int lock_ = -1;
};

// Looking at a run without going on with it; these take no lock.
bool is_run(const std::filesystem::path& path);
std::optional<std::string> process_in(const std::filesystem::path& path);  // that has it open
Json read_run_settings(const std::filesystem::path& path);
std::optional<Checkpoint> read_latest_checkpoint(const std::filesystem::path& path);
std::optional<Json> read_run_result(const std::filesystem::path& path);  // null if unfinished

}  // namespace agora
