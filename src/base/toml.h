#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"

namespace agora {

// Tables become objects with sorted keys, dates become text. A fault is a UserError
// "name:line:column: ...".
Json parse_toml(std::string_view text, const std::string& name);
Json parse_toml_file(const std::filesystem::path& path);

// An object as TOML that parse_toml reads back the same; members that are null are left out.
std::string to_toml(const Json& object);

}  // namespace agora
