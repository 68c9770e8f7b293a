#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace agora {

// The whole file. A missing or unreadable one, or a folder in its place, is a UserError.
std::string read_file(const std::filesystem::path& path);

// Opens like read_file, but gives the bytes piece by piece. Waiting for a pipe can be interrupted.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  size_t size() const { return size_; }       // bytes; 0 for a pipe
  size_t read(char* bytes, size_t capacity);  // bytes read; 0 at the end
  size_t position() const { return position_; }
  // From here on only the bytes [begin, end) of a regular file.
  void restrict_to(size_t begin, size_t end);

 private:
  std::filesystem::path path_;
  size_t size_ = 0;
  size_t position_ = 0;
  size_t end_ = SIZE_MAX;
  int descriptor_ = -1;
  bool regular_ = false;
};

// A file that appears whole or not at all: bytes go to a temporary beside the target, which
// commit() syncs and renames into place. Without commit() the temporary is removed and the target
// is as it was. Every failure (full disk, unwritable folder) is a UserError. A target that is a
// pipe or a device, such as /dev/stdout, is written to directly.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  void flush();
  void write_through(std::string_view bytes);
  void abandon();

  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty: writing to the target itself
  std::string buffer_;
  int descriptor_ = -1;
};

// A file that only grows: a log of metrics or events. Opening it cuts it back to `keep` bytes, so
// that a resumed run goes on from where its checkpoint was. Opened as by open_own_file.
class AppendFile {
 public:
  explicit AppendFile(std::filesystem::path path, size_t keep = 0);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void append(std::string_view bytes);  // whole or, when the disk is full, not at all
  void sync();
  size_t size() const { return size_; }

 private:
  std::filesystem::path path_;
  size_t size_;
  int descriptor_ = -1;
};

void write_atomically(const std::filesystem::path& target, std::string_view bytes);

// The descriptor of a file of ours that is written in place. What may be somebody else's (a link, a
// file with a second name, a pipe or a device) is a UserError. `flags` are added to open()'s.
int open_own_file(const std::filesystem::path& path, int flags);
// A UserError if something in the folder is neither a plain file nor a folder.
void expect_plain_files(const std::filesystem::path& folder);

// Makes the folder and its parents where they are missing.
void make_folder(const std::filesystem::path& path);

// Removes the temporaries that a killed process may have left in a folder.
void remove_temporaries(const std::filesystem::path& folder);

// Makes renames and removals in the folder last through a power cut.
void sync_folder(const std::filesystem::path& folder);

}  // namespace agora
