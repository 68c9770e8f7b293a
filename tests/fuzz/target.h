#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

// One parser is one file of this folder, which registers itself:
//
//   const bool known = fuzz::add("json", [](std::string_view input) { parse_json(input, "x"); });
//
// A target may throw UserError, and nothing else.
namespace agora::fuzz {

using Target = void (*)(std::string_view input);

std::map<std::string, Target>& targets();
bool add(const std::string& name, Target target);

// True if the parser took the input, false if it told the user what is wrong.
bool accepts(Target target, std::string_view input);

// A folder of this process, removed at its end.
const std::filesystem::path& folder();
// The bytes as a file of that folder.
std::filesystem::path as_file(const std::string& name, std::string_view bytes);

}  // namespace agora::fuzz
