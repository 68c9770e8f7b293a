#include "base/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

namespace agora {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr const char* kMetadata = "__metadata__";

struct DTypeEntry {
  DType dtype;
  std::string_view name;
  size_t size;
};
constexpr std::array<DTypeEntry, 13> kDTypes{{{DType::kBool, "BOOL", 1},
                                              {DType::kU8, "U8", 1},
                                              {DType::kI8, "I8", 1},
                                              {DType::kU16, "U16", 2},
                                              {DType::kI16, "I16", 2},
                                              {DType::kF16, "F16", 2},
                                              {DType::kBF16, "BF16", 2},
                                              {DType::kU32, "U32", 4},
                                              {DType::kI32, "I32", 4},
                                              {DType::kF32, "F32", 4},
                                              {DType::kU64, "U64", 8},
                                              {DType::kI64, "I64", 8},
                                              {DType::kF64, "F64", 8}}};

const DTypeEntry& entry_of(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }

float half_to_float(uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const int mantissa = half & 0x3ff;
  float value = std::ldexp(static_cast<float>(mantissa), -24);
  if (exponent > 0) value = std::ldexp(static_cast<float>(mantissa | 0x400), exponent - 25);
  if (exponent == 0x1f) value = mantissa == 0 ? INFINITY : NAN;
  return (half & 0x8000) != 0 ? -value : value;
}

float bfloat_to_float(uint16_t bfloat) { return std::bit_cast<float>(uint32_t{bfloat} << 16); }

template <typename Stored, typename T, typename Convert>
std::vector<T> convert(const std::vector<char>& bytes, Convert convert_one) {
  std::vector<T> values(bytes.size() / sizeof(Stored));
  for (size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8_t is a number here
    values[i] = static_cast<T>(convert_one(stored));
  }
  return values;
}

template <typename Stored, typename T>
std::vector<T> convert(const std::vector<char>& bytes) {
  return convert<Stored, T>(bytes, [](Stored stored) { return stored; });
}

}  // namespace

std::string_view dtype_name(DType dtype) { return entry_of(dtype).name; }
size_t dtype_size(DType dtype) { return entry_of(dtype).size; }

int64_t StoredTensor::size() const {
  return static_cast<int64_t>(bytes.size() / dtype_size(dtype));
}

void StoredTensor::check() const {
  int64_t expected = static_cast<int64_t>(dtype_size(dtype));
  for (const int64_t length : shape) expected *= length;
  CHECK(expected == static_cast<int64_t>(bytes.size()), "tensor '{}': shape ({}) has {} bytes",
        name, fmt::join(shape, ", "), bytes.size());
}

template <typename T>
std::vector<T> StoredTensor::values() const {
  const bool floating =
      dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF32 || dtype == DType::kF64;
  if (floating && std::is_integral_v<T>) {
    throw user_error("tensor '{}': expected whole numbers, found {}", name, dtype_name(dtype));
  }
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      return convert<uint8_t, T>(bytes);
    case DType::kI8:
      return convert<int8_t, T>(bytes);
    case DType::kU16:
      return convert<uint16_t, T>(bytes);
    case DType::kI16:
      return convert<int16_t, T>(bytes);
    case DType::kF16:
      return convert<uint16_t, T>(bytes, half_to_float);
    case DType::kBF16:
      return convert<uint16_t, T>(bytes, bfloat_to_float);
    case DType::kU32:
      return convert<uint32_t, T>(bytes);
    case DType::kI32:
      return convert<int32_t, T>(bytes);
    case DType::kF32:
      return convert<float, T>(bytes);
    case DType::kU64:
      return convert<uint64_t, T>(bytes);
    case DType::kI64:
      return convert<int64_t, T>(bytes);
    case DType::kF64:
      return convert<double, T>(bytes);
  }
  CHECK(false, "dtype {}", static_cast<int>(dtype));
  return {};
}
template std::vector<float> StoredTensor::values<float>() const;
template std::vector<double> StoredTensor::values<double>() const;
template std::vector<int64_t> StoredTensor::values<int64_t>() const;

const StoredTensor* TensorFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const StoredTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

const StoredTensor& TensorFile::at(std::string_view name) const {
  if (const StoredTensor* tensor = find(name)) return *tensor;
  std::vector<std::string> names;
  for (const StoredTensor& tensor : tensors) names.push_back(printable(tensor.name));
  throw user_error("{}: no tensor '{}'{}", path, name, suggestion(name, names));
}

const StoredTensor& TensorFile::at(std::string_view name, const std::vector<int64_t>& shape) const {
  const StoredTensor& tensor = at(name);
  if (tensor.shape != shape) {
    throw user_error("{}: tensor '{}' has shape ({}), expected ({})", path, name,
                     fmt::join(tensor.shape, ", "), fmt::join(shape, ", "));
  }
  return tensor;
}

void write_safetensors(const std::filesystem::path& path, const TensorFile& file) {
  // Wide types first, so that every tensor is aligned.
  std::vector<const StoredTensor*> order;
  for (const StoredTensor& tensor : file.tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const StoredTensor* a, const StoredTensor* b) {
    const size_t size_a = dtype_size(a->dtype), size_b = dtype_size(b->dtype);
    return size_a != size_b ? size_a > size_b : a->name < b->name;
  });
  Json header = Json::object();
  if (!file.metadata.empty()) header[kMetadata] = file.metadata;
  size_t offset = 0;
  for (const StoredTensor* tensor : order) {
    tensor->check();
    CHECK(!header.contains(tensor->name) && tensor->name != kMetadata, "tensor '{}' twice",
          tensor->name);
    header[tensor->name] = {{"dtype", dtype_name(tensor->dtype)},
                            {"shape", tensor->shape},
                            {"data_offsets", {offset, offset + tensor->bytes.size()}}};
    offset += tensor->bytes.size();
  }
  std::string text = dump_json(header);
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t length = text.size();
  AtomicFile out(path);
  out.write({reinterpret_cast<const char*>(&length), sizeof length});
  out.write(text);
  for (const StoredTensor* tensor : order) out.write({tensor->bytes.data(), tensor->bytes.size()});
  out.commit();
}

namespace {

// Where a tensor lies in the data behind the header.
struct Extent {
  uint64_t begin, end;
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : input_(path) { file_.path = path.string(); }

  TensorFile read() {
    const Json header = read_header();
    for (const auto& [name, value] : header.items()) {
      if (name == kMetadata) {
        read_metadata(value);
      } else {
        read_entry(name, value);
      }
    }
    check_extents();
    for (const size_t i : order_) read_bytes(file_.tensors[i], extents_[i]);
    return std::move(file_);
  }

 private:
  template <typename... Args>
  UserError fault(fmt::format_string<Args...> format, Args&&... args) const {
    return user_error("{}: not a whole safetensors file: {}", file_.path,
                      fmt::format(format, std::forward<Args>(args)...));
  }

  Json read_header() {
    uint64_t length = 0;
    if (input_.size() < sizeof length || input_.read(reinterpret_cast<char*>(&length), 8) != 8) {
      throw fault("it has {} bytes", input_.size());
    }
    if (length > input_.size() - 8 || length > kLongestTensorHeader) {
      throw fault("its header claims {} bytes, the file has {}", length, input_.size());
    }
    data_size_ = input_.size() - 8 - length;
    std::string text(length, '\0');
    if (input_.read(text.data(), length) != length) throw fault("the header ends early");
    Json header;
    try {
      header = parse_json(text, "its header");
    } catch (const UserError& error) {
      throw fault("{}", error.what());
    }
    if (!header.is_object()) throw fault("its header is no JSON object");
    return header;
  }

  void read_metadata(const Json& value) {
    if (!value.is_object()) throw fault("its metadata is no object");
    for (const auto& [key, entry] : value.items()) {
      if (!entry.is_string()) throw fault("its metadata '{}' is no text", printable(key));
      file_.metadata[key] = entry.get<std::string>();
    }
  }

  void read_entry(const std::string& name, const Json& value) {
    const std::string shown = printable(name);
    const bool whole = value.is_object() && value.contains("dtype") && value["dtype"].is_string() &&
                       value.contains("shape") && value["shape"].is_array() &&
                       value.contains("data_offsets") && value["data_offsets"].is_array() &&
                       value["data_offsets"].size() == 2;
    if (!whole) throw fault("tensor '{}' lacks dtype, shape or data_offsets", shown);
    const auto natural = [&](const Json& number) {
      if (!number.is_number_unsigned()) {
        throw fault("tensor '{}': expected a whole number of at least 0, found {}", shown,
                    printable(dump_json(number)));
      }
      return number.get<uint64_t>();
    };

    StoredTensor tensor{.name = name, .dtype = {}, .shape = {}, .bytes = {}};
    const auto& dtype = value["dtype"].text();
    const auto* known = std::find_if(kDTypes.begin(), kDTypes.end(),
                                     [&](const DTypeEntry& entry) { return entry.name == dtype; });
    if (known == kDTypes.end()) {
      throw fault("tensor '{}' has the unknown dtype '{}'", shown, printable(dtype));
    }
    tensor.dtype = known->dtype;
    uint64_t bytes = known->size;
    bool overflow = false;
    for (const Json& length : value["shape"]) {
      const uint64_t count = natural(length);
      overflow |= count > INT64_MAX || __builtin_mul_overflow(bytes, count, &bytes);
      tensor.shape.push_back(static_cast<int64_t>(count));
    }
    const Extent extent{natural(value["data_offsets"][0]), natural(value["data_offsets"][1])};
    if (extent.begin > extent.end || extent.end > data_size_) {
      throw fault("tensor '{}' lies at bytes {} to {} of {}", shown, extent.begin, extent.end,
                  data_size_);
    }
    if (overflow || bytes != extent.end - extent.begin) {
      throw fault("tensor '{}' has {} bytes, which its shape and dtype contradict", shown,
                  extent.end - extent.begin);
    }
    file_.tensors.push_back(std::move(tensor));
    extents_.push_back(extent);
  }

  // The tensors must cover the data without holes or overlaps, as the format demands.
  void check_extents() {
    order_.resize(extents_.size());
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      return std::pair(extents_[a].begin, extents_[a].end) <
             std::pair(extents_[b].begin, extents_[b].end);
    });
    uint64_t at = 0;
    for (const size_t i : order_) {
      if (extents_[i].begin != at) {
        throw fault("tensor '{}' starts at byte {}, expected {}", printable(file_.tensors[i].name),
                    extents_[i].begin, at);
      }
      at = extents_[i].end;
    }
    if (at != data_size_) throw fault("{} bytes belong to no tensor", data_size_ - at);
  }

  void read_bytes(StoredTensor& tensor, Extent extent) {
    tensor.bytes.resize(extent.end - extent.begin);
    if (input_.read(tensor.bytes.data(), tensor.bytes.size()) != tensor.bytes.size()) {
      throw fault("tensor '{}' ends early", printable(tensor.name));
    }
  }

  InputFile input_;
  TensorFile file_;
  uint64_t data_size_ = 0;
  std::vector<Extent> extents_;
  std::vector<size_t> order_;  // by place in the file
};

}  // namespace

TensorFile read_safetensors(const std::filesystem::path& path) { return Reader(path).read(); }

}  // namespace agora
