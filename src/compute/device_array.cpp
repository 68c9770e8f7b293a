#include "compute/device_array.h"

#include <vector>

#include "base/error.h"
#include "compute/backend.h"

namespace agora::compute {
namespace {

// Calls use(values of the array's own type).
template <typename From, typename Use>
void converted(Type type, std::span<const From> values, const Use& use) {
  const bool same = std::is_same_v<From, float> == (type == Type::kFloat32);
  if (same) return use(values.data());
  if (type == Type::kFloat32) return use(std::vector<float>(values.begin(), values.end()).data());
  return use(std::vector<double>(values.begin(), values.end()).data());
}

template <typename Own, typename To>
void read_as(const DeviceMemory& memory, int64_t bytes, std::span<To> values) {
  std::vector<Own> own(values.size());
  memory.read(own.data(), bytes);
  std::copy(own.begin(), own.end(), values.begin());
}

template <typename To>
void read_all(const DeviceMemory& memory, Type type, int64_t bytes, std::span<To> values) {
  const bool same = std::is_same_v<To, float> == (type == Type::kFloat32);
  if (same) return memory.read(values.data(), bytes);
  if (type == Type::kFloat32) return read_as<float>(memory, bytes, values);
  return read_as<double>(memory, bytes, values);
}

}  // namespace

DeviceArray::DeviceArray(int64_t count, Type type, Device device)
    : count_(count),
      type_(type),
      device_(device),
      memory_(backend(device).allocate(bytes(), "values of programs")) {}
DeviceArray::~DeviceArray() = default;
DeviceArray::DeviceArray(DeviceArray&&) noexcept = default;
DeviceArray& DeviceArray::operator=(DeviceArray&&) noexcept = default;

void* DeviceArray::address() const { return memory_->as<void>(); }

void DeviceArray::set(std::span<const float> values) {
  CHECK(std::ssize(values) == count_, "{} values for {}", values.size(), count_);
  converted(type_, values, [&](const void* own) { memory_->write(own, bytes()); });
}
void DeviceArray::set(std::span<const double> values) {
  CHECK(std::ssize(values) == count_, "{} values for {}", values.size(), count_);
  converted(type_, values, [&](const void* own) { memory_->write(own, bytes()); });
}
void DeviceArray::read(std::span<float> values) const {
  CHECK(std::ssize(values) == count_, "{} values of {}", values.size(), count_);
  read_all(*memory_, type_, bytes(), values);
}
void DeviceArray::read(std::span<double> values) const {
  CHECK(std::ssize(values) == count_, "{} values of {}", values.size(), count_);
  read_all(*memory_, type_, bytes(), values);
}
void DeviceArray::copy(const DeviceArray& from) {
  CHECK(from.count_ == count_ && from.type_ == type_ && from.device_ == device_,
        "arrays of different kinds");
  memory_->copy(*from.memory_, bytes());
}

ByteRows::ByteRows(int64_t rows, int64_t bytes, Device device)
    : rows_(rows),
      bytes_(bytes),
      device_(device),
      memory_(backend(device).allocate(rows * bytes, "rows of bytes")) {}
ByteRows::~ByteRows() = default;
ByteRows::ByteRows(ByteRows&&) noexcept = default;
ByteRows& ByteRows::operator=(ByteRows&&) noexcept = default;

void ByteRows::write(int64_t first, std::span<const uint8_t> rows) {
  const int64_t size = std::ssize(rows);
  CHECK(first >= 0 && size % bytes_ == 0 && first + size / bytes_ <= rows_,
        "{} bytes from row {} on of {} rows of {}", size, first, rows_, bytes_);
  memory_->write(rows.data(), size, first * bytes_);
}

}  // namespace agora::compute
