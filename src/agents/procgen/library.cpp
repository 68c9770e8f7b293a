#include "agents/procgen/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/features.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/installed.h"

namespace agora::agents::procgen {
namespace {

namespace fs = std::filesystem;

// Of procgen 0.10.7: the library, and all pictures with their names.
constexpr std::string_view kLibraryHash = "06e2bd57afdd5297", kAssetsHash = "688e7904b166f916";

// The script as it is to be called: the installed one of an installed program.
std::string script() {
  const fs::path own = installed("get-procgen");
  return own.empty() ? "scripts/get-procgen" : own.string();
}

std::optional<fs::path> named_folder() {
  const char* const named = std::getenv("AGORA_PROCGEN");
  if (named == nullptr || *named == '\0') return {};
  return named;
}

bool is_there(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "libenv.so", ignored) &&
         fs::is_directory(folder / "assets", ignored);
}

std::string hash_of_assets(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(folder).string());
  }
  std::sort(names.begin(), names.end());
  Hash hash;
  for (const std::string& name : names) hash.part(name).part(read_file(folder / name));
  return hash.hex();
}

void expect_as_published(const fs::path& folder) {
  const auto expect = [](const std::string& found, std::string_view published,
                         const fs::path& what) {
    if (found == published) return;
    throw user_error("{} is not as procgen 0.10.7 has it; `{}` brings it", what.string(), script());
  };
  expect(Hash().add(read_file(folder / "libenv.so")).hex(), kLibraryHash, folder / "libenv.so");
  expect(hash_of_assets(folder / "assets"), kAssetsHash, folder / "assets");
}

Library load(const fs::path& folder) {
  expect_as_published(folder);
  const fs::path file = folder / "libenv.so";
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw user_error("{}; `apt-get install libglib2.0-0` brings what procgen needs", dlerror());
  }
  Library library;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    CHECK(function != nullptr, "{} has no {}", file.string(), name);
  };
  find(library.make, "libenv_make");
  find(library.set_buffers, "libenv_set_buffers");
  find(library.observe, "libenv_observe");
  find(library.act, "libenv_act");
  find(library.close, "libenv_close");
  find(library.get_state, "get_state");
  find(library.set_state, "set_state");
  library.assets = (folder / "assets").string() + "/";
  return library;
}

}  // namespace

fs::path find_folder() {
  if (const auto named = named_folder()) return is_there(*named) ? *named : fs::path();
  std::vector<fs::path> places{AGORA_PROCGEN_FOLDER};
  if (const fs::path beside = installed("procgen"); !beside.empty()) places.push_back(beside);
  if (const char* const home = std::getenv("HOME")) {
    places.push_back(fs::path(home) / ".local/share/agora/procgen");
  }
  const auto found = std::find_if(places.begin(), places.end(), is_there);
  return found == places.end() ? fs::path() : fs::absolute(*found);
}

std::string missing() {
  if (!find_folder().empty()) return "";
  if (const auto named = named_folder()) {
    return fmt::format(
        "AGORA_PROCGEN names {}, which has no libenv.so with assets; `{} FOLDER` brings them",
        named->string(), script());
  }
  return fmt::format("the games' library is missing; `{}` brings it", script());
}

const Library& library() {
  static const Library loaded = load(find_folder());
  return loaded;
}

}  // namespace agora::agents::procgen
