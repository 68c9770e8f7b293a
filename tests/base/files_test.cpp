#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "support/scratch.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

TEST(Files, RoundTrip) {
  const Scratch scratch;
  const std::string bytes = std::string("a\0b\r\n", 5) + std::string(3'000'000, 'x');
  write_atomically(scratch / "file", bytes);
  EXPECT_EQ(read_file(scratch / "file"), bytes);
  write_atomically(scratch / "file", "");
  EXPECT_EQ(read_file(scratch / "file"), "");
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"file"});
}

TEST(Files, ReadErrorsAreOneLine) {
  const Scratch scratch;
  expect_user_error([&] { read_file(scratch / "absent"); }, {"absent", "No such file"});
  expect_user_error([&] { read_file(scratch.path()); }, {"folder", "expected a file"});
  expect_user_error([&] { read_file(""); }, {"empty name"});
  write_atomically(scratch / "file", "x");
  expect_user_error([&] { read_file(scratch / "file" / "x"); }, {"Not a directory"});
  if (geteuid() != 0) {
    fs::permissions(scratch / "file", fs::perms::none);
    expect_user_error([&] { read_file(scratch / "file"); }, {"Permission denied"});
  }
}

TEST(Files, ReadsFilesWhoseSizeIsUnknown) {
  EXPECT_NE(read_file("/proc/self/status").find("VmRSS"), std::string::npos);
}

TEST(Files, AbandonedFileLeavesTheTargetAsItWas) {
  const Scratch scratch;
  write_atomically(scratch / "file", "old");
  {
    AtomicFile file(scratch / "file");
    file.write(std::string(1'000'000, 'n'));
    EXPECT_EQ(read_file(scratch / "file"), "old");
    EXPECT_EQ(scratch.names().size(), 2u);
  }
  EXPECT_EQ(read_file(scratch / "file"), "old");
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"file"});
}

TEST(Files, WriteErrorsLeaveNothing) {
  const Scratch scratch;
  expect_user_error([&] { write_atomically(scratch.path(), "x"); }, {"it is a folder"});
  expect_user_error([&] { write_atomically(scratch / "no" / "file", "x"); },
                    {"no/file", "No such file or directory"});
  expect_user_error([&] { write_atomically("", "x"); }, {"expected the name of a file"});
  expect_user_error([&] { write_atomically("/proc/file", "x"); }, {"cannot write /proc/file"});
  expect_user_error([&] { write_atomically("/dev/full", "x"); }, {"No space left on device"});
  write_atomically(scratch / "file", "x");
  expect_user_error([&] { make_folder(scratch / "file"); }, {"cannot make the folder"});
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"file"});
}

TEST(Files, FullDisk) {
  const Scratch scratch;
  if (mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=65536") != 0) {
    GTEST_SKIP() << "a small disk cannot be mounted here";
  }
  write_atomically(scratch / "file", "old");
  expect_user_error([&] { write_atomically(scratch / "file", std::string(1'000'000, 'x')); },
                    {"cannot write", "No space left on device"});
  EXPECT_EQ(read_file(scratch / "file"), "old");
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"file"});
  umount(scratch.path().c_str());
}

TEST(Files, KeepsLinksAndPermissions) {
  const Scratch scratch;
  write_atomically(scratch / "file", "old");
  fs::permissions(scratch / "file", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("file", scratch / "link");
  write_atomically(scratch / "link", "new");
  EXPECT_TRUE(fs::is_symlink(scratch / "link"));
  EXPECT_EQ(read_file(scratch / "file"), "new");
  EXPECT_EQ(fs::status(scratch / "file").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  write_atomically("/dev/null", "bytes go to a device directly");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(Files, RemovesOnlyTemporaries) {
  const Scratch scratch;
  std::ofstream(scratch / ".file.1.0.agora.tmp") << "half";
  std::ofstream(scratch / "mine.tmp") << "whole";
  make_folder(scratch / "a" / "b");
  remove_temporaries(scratch.path());
  EXPECT_EQ(scratch.names(), (std::vector<std::string>{"a", "mine.tmp"}));
}

}  // namespace
}  // namespace agora
