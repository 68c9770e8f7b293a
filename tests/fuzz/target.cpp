#include "fuzz/target.h"

#include <stdlib.h>

#include <fstream>

#include "base/error.h"

namespace agora::fuzz {

std::map<std::string, Target>& targets() {
  static std::map<std::string, Target> all;
  return all;
}

bool add(const std::string& name, Target target) { return targets().emplace(name, target).second; }

bool accepts(Target target, std::string_view input) {
  try {
    target(input);
    return true;
  } catch (const UserError& error) {
    const std::string_view told = error.what();
    CHECK(!told.empty() && told.find('\n') == told.npos, "expected one line, found '{}'", told);
    return false;
  }
}

const std::filesystem::path& folder() {
  static const struct Scratch {
    Scratch() {
      std::string name = (std::filesystem::temp_directory_path() / "agora-fuzz-XXXXXX").string();
      CHECK(mkdtemp(name.data()) != nullptr, "cannot make {}", name);
      path = name;
    }
    ~Scratch() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::filesystem::path path;
  } scratch;
  return scratch.path;
}

std::filesystem::path as_file(const std::string& name, std::string_view bytes) {
  const std::filesystem::path file = folder() / name;
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

}  // namespace agora::fuzz
