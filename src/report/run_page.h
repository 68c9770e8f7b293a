#pragma once
#include <filesystem>
#include <vector>

#include "report/html.h"

namespace agora::report {

// The page of one run folder: its result, the curves of its metrics, its options.
Page page_of_run(const std::filesystem::path& folder);

// What a run has drawn, films among them, each under the name of its file.
ChartBlock pictures_of(const std::filesystem::path& folder);

// Several runs beside each other, of any verbs: a chart per metric with a curve per run, the
// options that differ, the final numbers. A run of several seeds stands for those.
Page page_of_runs(const std::vector<std::filesystem::path>& folders);

}  // namespace agora::report
