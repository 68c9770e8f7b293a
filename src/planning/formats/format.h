#pragma once
#include <agora/planning/builder.h>
#include <agora/planning/load.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace agora::planning {

// One file format is one file of formats/, whose `Format entry_STEM()` fills this.
struct Format {
  std::string name;  // for --format
  std::vector<std::string> extensions;
  std::string summary;  // one line, for listings
  std::function<Model(const std::filesystem::path&, const LoadOptions&)> read;
  // Empty: cannot be written. Returns what was lost, in words.
  std::function<std::vector<std::string>(const Model&, const std::filesystem::path&)> write;
};

// Every format, in the order of their file names (generated).
const std::vector<Format>& formats();

// The format named, or that of the file's extension; otherwise a user error that lists them.
const Format& find_format(const std::string& name, const std::filesystem::path& file);

// A source that names a file, whether it exists or not; the others are built-in models.
bool looks_like_file(const std::string& source);
// An error if rules of maps are given for something else, where they would do nothing.
void refuse_map_rules(const std::string& source, const LoadOptions& options);

// The same with the place in front: "file:line: MESSAGE".
UserError at_line(const std::filesystem::path& file, const ModelError& error);

}  // namespace agora::planning
