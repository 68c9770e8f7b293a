#pragma once
#include <filesystem>
#include <string>

#include "report/chart.h"

namespace agora::report {

enum class SvgUse {
  kStandalone,  // a file of its own with title and caption; follows the viewer's colour scheme
  kInline,      // inside a page, whose CSS variables give the colours; no title and caption
};

std::string render_svg(const Chart& chart, SvgUse use = SvgUse::kStandalone);

// Writes a standalone picture atomically.
void write_svg(const std::filesystem::path& file, const Chart& chart);

}  // namespace agora::report
