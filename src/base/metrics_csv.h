#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/metrics.h"

namespace agora {

// metrics.csv of a run: a row per step and a column per name, in the order of their first
// appearance; what a step did not report is empty. The last row is written once a later step or
// finish() completes it.
class MetricsCsv : public MetricsSink {
 public:
  // state: what save_state() gave, to go on from there; null starts a new file.
  MetricsCsv(std::filesystem::path path, const Json& state);

  void record(int64_t step, std::string_view name, double value) override;
  void finish();      // completes the last row
  Json save_state();  // syncs the file; also holds the row that is not complete yet

 private:
  void restore(const Json& state);
  void rewrite(const std::vector<std::string>& columns);
  void complete_row();
  void remove_file() const;

  std::filesystem::path path_;
  std::unique_ptr<AppendFile> file_;
  std::vector<std::string> columns_;  // without "step"
  size_t rows_ = 0;
  std::optional<int64_t> step_;                               // of the pending row
  std::vector<std::pair<std::string, std::string>> pending_;  // name, cell
};

}  // namespace agora
