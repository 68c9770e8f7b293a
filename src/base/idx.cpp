#include "base/idx.h"

#include <algorithm>

#include "base/error.h"
#include "base/features.h"
#include "base/files.h"
#include "base/limits.h"

#if AGORA_HAS_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif

namespace agora {
namespace {

constexpr uint8_t kBytes = 8;  // the type of the numbers
constexpr size_t kMostDimensions = 4;
constexpr size_t kMostPacked = 1032;  // times longer than before is what gzip unpacks to at most
constexpr size_t kFirstRead = size_t{1} << 16;

// The bytes of a file one after another, packed or not.
class Source {
 public:
  Source(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {
    if (!bytes.starts_with("\x1f\x8b")) return;
#if AGORA_HAS_ZLIB
    packed_ = true;
    stream_.next_in = reinterpret_cast<const Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    constexpr int kGzip = 16 + MAX_WBITS;
    CHECK(inflateInit2(&stream_, kGzip) == Z_OK, "zlib does not begin");
#else
    throw user_error("{}: packed, and this build has no zlib: unpack it with gunzip first", name);
#endif
  }
  ~Source() {
#if AGORA_HAS_ZLIB
    if (packed_) inflateEnd(&stream_);
#endif
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // What can come out of it at most.
  size_t most() const { return packed_ ? bytes_.size() * kMostPacked : bytes_.size(); }

  bool ended() const { return !packed_ || ended_; }

  // Bytes read; fewer than asked for at the end only.
  size_t read(uint8_t* to, size_t count) {
    if (!packed_) {
      count = std::min(count, bytes_.size());
      std::copy_n(bytes_.begin(), count, to);
      bytes_.remove_prefix(count);
      return count;
    }
#if AGORA_HAS_ZLIB
    stream_.next_out = to;
    stream_.avail_out = static_cast<uInt>(count);
    while (!ended_ && stream_.avail_out > 0) {
      const int code = inflate(&stream_, Z_NO_FLUSH);
      ended_ = code == Z_STREAM_END;
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        throw user_error("{}: packed, but broken: {}", name_,
                         stream_.msg != nullptr ? stream_.msg : "wrong data");
      }
      if (code == Z_BUF_ERROR || (code == Z_OK && stream_.avail_in == 0 && stream_.avail_out > 0)) {
        break;
      }
    }
    return count - stream_.avail_out;
#else
    return 0;
#endif
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
  bool packed_ = false, ended_ = false;
#if AGORA_HAS_ZLIB
  z_stream stream_{};
#endif
};

}  // namespace

IdxArray parse_idx(std::string_view bytes, const std::string& name) {
  if (bytes.size() > kLongestIdx) {
    throw user_error("{}: longer than {} MiB, which is the most that is read of its kind", name,
                     kLongestIdx >> 20);
  }
  Source source(bytes, name);
  uint8_t magic[4];
  if (source.read(magic, 4) < 4 || magic[0] != 0 || magic[1] != 0) {
    throw user_error("{}: this is no IDX file: it does not begin with two zeros", name);
  }
  if (magic[2] != kBytes) {
    throw user_error("{}: an IDX file of type {}, expected 8: bytes", name, magic[2]);
  }
  if (magic[3] < 1 || magic[3] > kMostDimensions) {
    throw user_error("{}: an IDX file of {} dimensions, expected 1 to {}", name, magic[3],
                     kMostDimensions);
  }
  IdxArray array;
  size_t total = 1;
  for (int k = 0; k < magic[3]; ++k) {
    uint8_t word[4];
    if (source.read(word, 4) < 4) throw user_error("{}: ends within its sizes", name);
    const size_t size =
        size_t{word[0]} << 24 | size_t{word[1]} << 16 | size_t{word[2]} << 8 | word[3];
    if (size == 0) throw user_error("{}: there is nothing in it: a size is 0", name);
    if (total > kLongestIdx / size) {
      throw user_error("{}: more than {} MiB, which is the most that is read of its kind", name,
                       kLongestIdx >> 20);
    }
    array.shape.push_back(static_cast<int64_t>(size));
    total *= size;
  }
  size_t found = 0;
  if (total <= source.most()) {
    array.values.resize(total);
    found = source.read(array.values.data(), total);
  }
  if (found < total) throw user_error("{}: ends before its {} bytes do", name, total);
  uint8_t more;
  if (source.read(&more, 1) > 0) throw user_error("{}: goes on after its {} bytes", name, total);
  if (!source.ended()) throw user_error("{}: packed, but its end is missing", name);
  return array;
}

IdxArray read_idx(const std::filesystem::path& path) {
  InputFile file(path);
  std::string bytes;
  for (size_t total = 0;;) {
    const size_t room = std::clamp(file.size() + 1, kFirstRead, kLongestIdx + 1);
    bytes.resize(total + room);
    const size_t count = file.read(bytes.data() + total, room);
    bytes.resize(total += count);
    if (count == 0 || total > kLongestIdx) return parse_idx(bytes, path.string());
  }
}

}  // namespace agora
