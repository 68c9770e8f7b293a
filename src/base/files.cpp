#include "base/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/signals.h"
#include "base/text.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBuffer = size_t{1} << 18;
constexpr std::string_view kTemporarySuffix = ".agora.tmp";

UserError read_error(const fs::path& path, int code) {
  return user_error("cannot read {}: {}", path.string(), std::strerror(code));
}

UserError write_error(const fs::path& path, int code) {
  return user_error("cannot write {}: {}", path.string(), std::strerror(code));
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// An open stream of this process, even when the shell sends it to a plain file.
bool is_stream(const fs::path& path) {
  return path.string().starts_with("/dev/std") || path.string().starts_with("/dev/fd/");
}

// Where the bytes finally land: a link is followed, so that it stays a link.
fs::path follow(const fs::path& path) {
  std::error_code code;
  if (!fs::is_symlink(path, code)) return path;
  fs::path real = fs::weakly_canonical(path, code);
  if (code) throw write_error(path, code.value());
  return real;
}

// ".NAME.PID.COUNT.agora.tmp": hidden, and unique among all processes of this machine.
fs::path temporary_beside(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  const std::string name = target.filename().string().substr(0, 180);
  return folder_of(target) /
         fmt::format(".{}.{}.{}{}", name, getpid(), counter.fetch_add(1), kTemporarySuffix);
}

// 0, or the error number.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

constexpr auto kWaitStep = std::chrono::milliseconds(50);  // between two looks at a signal

void wait_until_readable(int descriptor) {
  pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
  while (poll(&watched, 1, kWaitStep.count()) <= 0) throw_if_stopped();
}

// A named pipe is waited for until somebody reads it; a stream that nobody reads any more is not.
int open_for_writing(const fs::path& path) {
  while (true) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0) fcntl(descriptor, F_SETFL, 0);  // blocking from here on
    if (descriptor >= 0 || errno != ENXIO || is_stream(path)) return descriptor;
    throw_if_stopped();
    std::this_thread::sleep_for(kWaitStep);
  }
}

}  // namespace

InputFile::InputFile(fs::path path) : path_(std::move(path)) {
  if (path_.empty()) throw user_error("cannot read a file with an empty name");
  descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw read_error(path_, errno);
  struct stat status {};
  const bool known = fstat(descriptor_, &status) == 0;
  if (known && S_ISDIR(status.st_mode)) {
    close(descriptor_);
    throw user_error("cannot read {}: it is a folder, expected a file", path_.string());
  }
  regular_ = known && S_ISREG(status.st_mode);
  if (regular_) size_ = static_cast<size_t>(status.st_size);
}

InputFile::~InputFile() { close(descriptor_); }

size_t InputFile::read(char* bytes, size_t capacity) {
  size_t total = 0;
  capacity = std::min(capacity, end_ - position_);
  while (total < capacity) {
    if (!regular_) wait_until_readable(descriptor_);
    const ssize_t count = ::read(descriptor_, bytes + total, capacity - total);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) throw read_error(path_, errno);
    if (count == 0) break;
    total += static_cast<size_t>(count);
  }
  position_ += total;
  return total;
}

void InputFile::restrict_to(size_t begin, size_t end) {
  if (lseek(descriptor_, static_cast<off_t>(begin), SEEK_SET) < 0) throw read_error(path_, errno);
  position_ = begin;
  end_ = std::max(begin, end);
}

std::string read_file(const fs::path& path) {
  InputFile file(path);
  std::string bytes;
  size_t total = 0;
  // One byte more than the size shows the end at the first read.
  for (size_t room = file.size() + 1;; room = std::max(kBuffer, total)) {
    bytes.resize(total + room);
    const size_t count = file.read(bytes.data() + total, room);
    total += count;
    if (count < room) break;
  }
  bytes.resize(total);
  return bytes;
}

AtomicFile::AtomicFile(fs::path target)
    : target_(is_stream(target) ? std::move(target) : follow(target)) {
  if (target_.filename().empty()) {
    throw user_error("cannot write {}: expected the name of a file", target_.string());
  }
  struct stat status {};
  const bool exists = stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    throw user_error("cannot write {}: it is a folder, expected a file", target_.string());
  }
  if (exists && (is_stream(target_) || !S_ISREG(status.st_mode))) {
    descriptor_ = open_for_writing(target_);
  } else {
    temporary_ = temporary_beside(target_);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) throw write_error(target_, errno);
  if (exists && !temporary_.empty()) (void)fchmod(descriptor_, status.st_mode & 07777);
  buffer_.reserve(kBuffer);
}

AtomicFile::~AtomicFile() { abandon(); }

void AtomicFile::abandon() {
  if (descriptor_ < 0) return;
  close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  CHECK(descriptor_ >= 0, "{} is closed", target_.string());
  if (buffer_.size() + bytes.size() > kBuffer) flush();
  if (bytes.size() > kBuffer) {
    write_through(bytes);
  } else {
    buffer_.append(bytes);
  }
}

void AtomicFile::flush() {
  write_through(buffer_);
  buffer_.clear();
}

void AtomicFile::write_through(std::string_view bytes) {
  if (const int code = write_all(descriptor_, bytes); code != 0) {
    abandon();
    throw write_error(target_, code);
  }
}

void AtomicFile::commit() {
  CHECK(descriptor_ >= 0, "{} is closed", target_.string());
  flush();
  if (temporary_.empty()) {
    if (close(std::exchange(descriptor_, -1)) != 0) throw write_error(target_, errno);
    return;
  }
  if (fsync(descriptor_) != 0 || rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int code = errno;
    abandon();
    throw write_error(target_, code);
  }
  close(std::exchange(descriptor_, -1));
  sync_folder(folder_of(target_));
}

AppendFile::AppendFile(fs::path path, size_t keep) : path_(std::move(path)), size_(keep) {
  descriptor_ = open_own_file(path_, O_WRONLY | O_APPEND);
  struct stat status {};
  if (fstat(descriptor_, &status) == 0 && static_cast<size_t>(status.st_size) < keep) {
    close(descriptor_);
    throw user_error("{} has {} bytes, expected at least {}: it was cut short", path_.string(),
                     status.st_size, keep);
  }
  if (ftruncate(descriptor_, static_cast<off_t>(keep)) != 0) {
    const int code = errno;
    close(descriptor_);
    throw write_error(path_, code);
  }
}

AppendFile::~AppendFile() { close(descriptor_); }

void AppendFile::append(std::string_view bytes) {
  if (const int code = write_all(descriptor_, bytes); code != 0) {
    (void)!ftruncate(descriptor_, static_cast<off_t>(size_));
    throw write_error(path_, code);
  }
  size_ += bytes.size();
}

void AppendFile::sync() {
  if (fdatasync(descriptor_) != 0) throw write_error(path_, errno);
}

void write_atomically(const fs::path& target, std::string_view bytes) {
  AtomicFile file(target);
  file.write(bytes);
  file.commit();
}

int open_own_file(const fs::path& path, int flags) {
  // Without O_NONBLOCK a pipe would be waited for.
  const int descriptor =
      open(path.c_str(), flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (descriptor < 0 && errno == ELOOP) {
    throw user_error("cannot write {}: it is a link, expected a file", path.string());
  }
  if (descriptor < 0) throw write_error(path, errno);
  struct stat status {};
  const bool known = fstat(descriptor, &status) == 0;
  if (known && S_ISREG(status.st_mode) && status.st_nlink <= 1) return descriptor;
  close(descriptor);
  throw user_error("cannot write {}: {}", path.string(),
                   known && S_ISREG(status.st_mode) ? "it has a second name (a hard link)"
                                                    : "it is a pipe or a device, expected a file");
}

void expect_plain_files(const fs::path& folder) {
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    std::error_code gone;  // another process may be at work here
    const fs::file_type type = entry->symlink_status(gone).type();
    if (gone || type == fs::file_type::regular || type == fs::file_type::directory) continue;
    throw user_error("{} holds {} '{}', expected files only", folder.string(),
                     type == fs::file_type::symlink ? "the link" : "the pipe or device",
                     printable(entry->path().lexically_relative(folder).string()));
  }
}

void make_folder(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) throw user_error("cannot make the folder {}: {}", path.string(), code.message());
  if (!fs::is_directory(path, code)) {
    throw user_error("cannot make the folder {}: there is a file of that name", path.string());
  }
}

void remove_temporaries(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') && name.ends_with(kTemporarySuffix)) fs::remove(entry, ignored);
  }
}

void sync_folder(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace agora
