#pragma once
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace agora {

enum class DType { kBool, kU8, kI8, kU16, kI16, kF16, kBF16, kU32, kI32, kF32, kU64, kI64, kF64 };

std::string_view dtype_name(DType dtype);  // "F32", as in the file
size_t dtype_size(DType dtype);            // bytes

template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kU8;
  if constexpr (std::is_same_v<T, int8_t>) return DType::kI8;
  if constexpr (std::is_same_v<T, uint16_t>) return DType::kU16;
  if constexpr (std::is_same_v<T, int16_t>) return DType::kI16;
  if constexpr (std::is_same_v<T, uint32_t>) return DType::kU32;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kI32;
  if constexpr (std::is_same_v<T, uint64_t>) return DType::kU64;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kI64;
}

// A named array as it lies in a file: row-major, little-endian.
struct StoredTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::vector<char> bytes;

  // StoredTensor::of<float>("weight", {3, 2}, values)
  template <typename T>
  static StoredTensor of(std::string name, std::vector<int64_t> shape, std::span<const T> values) {
    const auto* data = reinterpret_cast<const char*>(values.data());
    StoredTensor tensor{std::move(name), dtype_of<T>(), std::move(shape),
                        std::vector<char>(data, data + values.size_bytes())};
    tensor.check();
    return tensor;
  }

  int64_t size() const;  // numbers in it
  void check() const;    // CHECKs that bytes and shape agree

  // The numbers as T = float, double or int64_t. Floating types convert into each other, whole
  // ones into any T; floating to whole is an error.
  template <typename T>
  std::vector<T> values() const;
};

// https://huggingface.co/docs/safetensors: loads in Python as it is, and the other way round.
struct TensorFile {
  std::vector<StoredTensor> tensors;
  std::map<std::string, std::string> metadata;
  std::string path;  // where it was read, for messages

  const StoredTensor* find(std::string_view name) const;
  // The tensor of that name (and shape, where given); anything else is a UserError.
  const StoredTensor& at(std::string_view name) const;
  const StoredTensor& at(std::string_view name, const std::vector<int64_t>& shape) const;
};

// The same contents give the same bytes, whatever their order.
void write_safetensors(const std::filesystem::path& path, const TensorFile& file);

// A truncated or lying file is a UserError; memory stays within the size of the file.
TensorFile read_safetensors(const std::filesystem::path& path);

}  // namespace agora
