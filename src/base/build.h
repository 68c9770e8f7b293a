#pragma once
#include <string>
#include <string_view>

namespace agora {

// The commit that was built, "unknown" outside a repository.
std::string_view build_commit();

// What the program is made of: a hash of all that is loaded of the program and of this library,
// but for the commit, and of the vectors it chose. The same code built again, or at a commit that
// changes no code, has the same.
const std::string& build_id();

// The same of one ELF file, given by its bytes.
std::string build_id_of(std::string_view elf, const std::string& name);

}  // namespace agora
