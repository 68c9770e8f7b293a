#include "report/plotly.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/features.h"
#include "base/files.h"
#include "base/installed.h"

namespace agora::report {

std::string find_plotly_js() {
  if (const char* named = std::getenv("AGORA_PLOTLY"))
    return *named == '\0' ? "" : read_file(named);
  std::error_code error;
  for (const std::filesystem::path& place :
       {installed("plotly.min.js"), std::filesystem::path(AGORA_PLOTLY_JS)}) {
    if (std::filesystem::is_regular_file(place, error)) return read_file(place);
  }
  return "";
}

}  // namespace agora::report
