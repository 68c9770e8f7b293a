#pragma once
#include <filesystem>
#include <string_view>

namespace agora {

// What was installed beside the program, in share/agora; "" if there is no such thing.
std::filesystem::path installed(std::string_view name);

}  // namespace agora
