#pragma once
#include <filesystem>

#include "report/html.h"

namespace agora::report {

// The page of one run folder: its result, the curves of its metrics, its options.
Page page_of_run(const std::filesystem::path& folder);

}  // namespace agora::report
