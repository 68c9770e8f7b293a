#include "report/plotly.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/features.h"
#include "base/files.h"

namespace agora::report {

std::string find_plotly_js() {
  if (const char* named = std::getenv("AGORA_PLOTLY"))
    return *named == '\0' ? "" : read_file(named);
  std::vector<std::filesystem::path> places;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) places.push_back(program.parent_path() / "../share/agora/plotly.min.js");
  places.emplace_back(AGORA_PLOTLY_JS);
  for (const auto& place : places)
    if (std::filesystem::is_regular_file(place, error)) return read_file(place);
  return "";
}

}  // namespace agora::report
