#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/metrics.h"

namespace agora::report {

// Scalars as TensorBoard reads them: `events.out.tfevents.TIME.HOST` in a folder. Records are
// only ever appended, so a killed process leaves a readable file.
class TensorBoardEvents : public MetricsSink {
 public:
  // A run that goes on after `resumed_from` hides what an earlier file has at later steps.
  explicit TensorBoardEvents(const std::filesystem::path& folder, int64_t resumed_from = -1);
  ~TensorBoardEvents() override;
  TensorBoardEvents(const TensorBoardEvents&) = delete;
  TensorBoardEvents& operator=(const TensorBoardEvents&) = delete;

  void record(int64_t step, std::string_view name, double value) override;
  void flush() override;
  // The options of the run, a flat object, for the page HPARAMS. What columns there are,
  // TensorBoard finds out from all the runs that it shows.
  void hyperparameters(const Json& options);
  const std::filesystem::path& file() const { return file_; }

 private:
  void append(std::string_view event);
  void write_out();

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::string pending_;
  std::chrono::steady_clock::time_point last_write_;
};

// The bytes of one record: length, data, and the masked checksum of each.
std::string tensorboard_record(std::string_view data);

}  // namespace agora::report
