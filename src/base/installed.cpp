#include "base/installed.h"

#include <system_error>

namespace agora {

std::filesystem::path installed(std::string_view name) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const std::filesystem::path place =
      (program.parent_path().parent_path() / "share/agora" / name).lexically_normal();
  return std::filesystem::exists(place, error) ? place : std::filesystem::path();
}

}  // namespace agora
