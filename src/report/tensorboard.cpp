#include "report/tensorboard.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "report/checksum.h"

namespace agora::report {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kWriteEvery = std::chrono::seconds(5);
constexpr size_t kMostPending = 1 << 16;

template <typename Word>
std::string little_endian(Word word) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(Word); ++i) bytes += static_cast<char>(word >> (8 * i) & 0xFF);
  return bytes;
}

// Protocol buffers: a field is its number and wire type, then the value.
std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}
std::string key(int field, int wire_type) {
  return varint(static_cast<uint64_t>(field << 3 | wire_type));
}
std::string integer_field(int field, int64_t value) {
  return key(field, 0) + varint(static_cast<uint64_t>(value));
}
std::string double_field(int field, double value) {
  return key(field, 1) + little_endian(std::bit_cast<uint64_t>(value));
}
std::string float_field(int field, float value) {
  return key(field, 5) + little_endian(std::bit_cast<uint32_t>(value));
}
std::string bytes_field(int field, std::string_view bytes) {
  return key(field, 2) + varint(bytes.size()) + std::string(bytes);
}

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// message Event { double wall_time = 1; int64 step = 2; string file_version = 3;
//                 Summary summary = 5; SessionLog session_log = 7; }
std::string event(int64_t step, const std::string& what) {
  return double_field(1, wall_time()) + integer_field(2, step) + what;
}

// message Value { double number_value = 2; string string_value = 3; bool bool_value = 4; }
std::string value_of(const Json& option) {
  if (option.is_boolean()) return integer_field(4, option.get<bool>() ? 1 : 0);
  if (option.is_number()) return double_field(2, option.get<double>());
  return bytes_field(3, option.is_string() ? option.get<std::string>() : dump_json(option));
}

}  // namespace

std::string tensorboard_record(std::string_view data) {
  const auto masked = [](std::string_view bytes) {
    const uint32_t crc = crc32c(bytes);
    return little_endian((crc >> 15 | crc << 17) + 0xa282ead8u);
  };
  const std::string length = little_endian(static_cast<uint64_t>(data.size()));
  return length + masked(length) + std::string(data) + masked(data);
}

TensorBoardEvents::TensorBoardEvents(const std::filesystem::path& folder, int64_t resumed_from)
    : last_write_(Clock::now()) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0')
    std::strcpy(host.data(), "localhost");
  make_folder(folder);
  const std::string name = fmt::format("events.out.tfevents.{:.0f}.{}", wall_time(), host.data());
  file_ = folder / name;
  // A second file within a second gets a number.
  for (int i = 1; descriptor_ < 0; ++i) {
    descriptor_ = open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor_ < 0 && errno != EEXIST)
      throw user_error("{}: cannot be written: {}", file_.string(), std::strerror(errno));
    if (descriptor_ < 0) file_ = folder / fmt::format("{}.{}", name, i);
  }
  append(event(0, bytes_field(3, "brain.Event:2")));
  constexpr int64_t kSessionStart = 1;
  if (resumed_from >= 0)
    append(event(resumed_from + 1, bytes_field(7, integer_field(1, kSessionStart))));
  write_out();
}

TensorBoardEvents::~TensorBoardEvents() {
  try {
    write_out();
  } catch (const UserError&) {  // nobody is left to tell
  }
  close(descriptor_);
}

void TensorBoardEvents::record(int64_t step, std::string_view name, double value) {
  // message Summary { repeated Value value = 1; }  Value { string tag = 1; float simple_value = 2;
  // }
  const std::string entry = bytes_field(1, name) + float_field(2, static_cast<float>(value));
  append(event(step, bytes_field(5, bytes_field(1, entry))));
  if (pending_.size() >= kMostPending || Clock::now() - last_write_ >= kWriteEvery) write_out();
}

void TensorBoardEvents::hyperparameters(const Json& options) {
  // message SessionStartInfo { map<string, Value> hparams = 1; double start_time_secs = 5; }
  std::string session;
  for (const auto& [name, option] : options.items()) {
    session += bytes_field(1, bytes_field(1, name) + bytes_field(2, value_of(option)));
  }
  session += double_field(5, wall_time());
  // message HParamsPluginData { SessionStartInfo session_start_info = 3; }
  // message SummaryMetadata { PluginData plugin_data = 1 { plugin_name = 1; content = 2; } }
  const std::string plugin = bytes_field(1, "hparams") + bytes_field(2, bytes_field(3, session));
  // message Value { tag = 1; TensorProto tensor = 8; SummaryMetadata metadata = 9; }
  constexpr std::string_view kNoFloats("\x08\x01\x12\x02\x12\x00", 6);  // a tensor of shape (0)
  const std::string entry = bytes_field(1, "_hparams_/session_start_info") +
                            bytes_field(8, kNoFloats) + bytes_field(9, bytes_field(1, plugin));
  append(event(0, bytes_field(5, bytes_field(1, entry))));
}

void TensorBoardEvents::flush() { write_out(); }

void TensorBoardEvents::append(std::string_view data) { pending_ += tensorboard_record(data); }

void TensorBoardEvents::write_out() {
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const std::string reason = std::strerror(errno);
      pending_.clear();
      throw user_error("{}: cannot be written: {}", file_.string(), reason);
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
  pending_.clear();
  last_write_ = Clock::now();
}

}  // namespace agora::report
