// The build's id knows code from the commit it was built at.
#include "base/build.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "base/files.h"

namespace agora {
namespace {

std::string library() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&build_id), &info);
  return read_file(info.dli_fname);
}

void overwrite(std::string& bytes, const std::string& old, const std::string& now) {
  const size_t at = bytes.find(old);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, now.size(), now);
}

TEST(Build, IsTheSameAtAnotherCommit) {
  const std::string built = library();
  std::string other = built;
  std::string text(build_commit());
  text.resize(64);
  overwrite(other, text, "0123456789ab-dirty");
  EXPECT_NE(built, other);
  EXPECT_EQ(build_id_of(built, "built"), build_id_of(other, "other"));
}

TEST(Build, IsAnotherWithOtherCodeOrConstants) {
  const std::string built = library();
  std::string constant = built;
  overwrite(constant, "the program does not find itself", "T");
  EXPECT_NE(build_id_of(built, "built"), build_id_of(constant, "constant"));
  // The first instructions of a function.
  std::string code = built;
  const std::string first(reinterpret_cast<const char*>(&build_id_of), 32);
  overwrite(code, first, "\xCC");
  EXPECT_NE(build_id_of(built, "built"), build_id_of(code, "code"));
}

TEST(Build, IsKnownOnce) {
  EXPECT_EQ(build_id().size(), 16);
  EXPECT_EQ(&build_id(), &build_id());
}

}  // namespace
}  // namespace agora
