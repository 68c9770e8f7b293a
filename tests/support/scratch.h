#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace agora {

// A folder of its own for one test, removed at the end.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "agora-test-XXXXXX").string();
    CHECK(mkdtemp(name.data()) != nullptr, "no scratch folder");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  // Puts a file there without waiting for the disk.
  std::filesystem::path put(std::string_view name, std::string_view bytes) const {
    std::filesystem::remove(path_ / name);  // writing into an old file waits
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      all.push_back(entry.path().filename().string());
    }
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::filesystem::path path_;
};

// The body must throw a UserError of one line that contains every fragment.
template <typename Body>
void expect_user_error(Body&& body, const std::vector<std::string>& fragments) {
  try {
    body();
    ADD_FAILURE() << "no error; expected one about " << fragments.front();
  } catch (const UserError& error) {
    const std::string line = error.what();
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    for (const std::string& fragment : fragments) {
      EXPECT_NE(line.find(fragment), std::string::npos) << line << "\n  lacks: " << fragment;
    }
  }
}

}  // namespace agora
