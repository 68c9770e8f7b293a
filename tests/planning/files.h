#pragma once
#include <agora/planning/load.h>

#include <string>

#include "support/scratch.h"

namespace agora::planning::testing {

// A scratch folder whose files go by text.
struct Folder {
  std::string at(const std::string& name) const { return (scratch / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    return scratch.put(name, text).string();
  }
  Scratch scratch = {};
};

// What load() says about a file, its folder taken off: "name:line: message".
inline std::string complaint(const Folder& folder, const std::string& name, const std::string& text,
                             const LoadOptions& options = {}) {
  const std::string file = folder.write(name, text);
  try {
    load(file, options);
  } catch (const UserError& error) {
    std::string words = error.what();
    const size_t at = words.find(file);
    return at == words.npos ? words : words.replace(at, file.size(), name);
  }
  return "nothing is wrong";
}

}  // namespace agora::planning::testing
