#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "compute/device.h"

namespace agora::compute {

class DeviceMemory;  // backend.h

enum class Type : uint8_t { kFloat32, kFloat64 };

// Values on a device that programs hand to each other without the host (Program::bind), row-major.
class DeviceArray {
 public:
  explicit DeviceArray(int64_t count, Type type = Type::kFloat32, Device device = default_device());
  ~DeviceArray();
  DeviceArray(DeviceArray&&) noexcept;
  DeviceArray& operator=(DeviceArray&&) noexcept;

  void set(std::span<const float> values);
  void set(std::span<const double> values);
  void read(std::span<float> values) const;
  void read(std::span<double> values) const;
  void copy(const DeviceArray& from);  // of the same count, type and device

  int64_t count() const { return count_; }
  Type type() const { return type_; }
  Device device() const { return device_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(address());  // of the device
  }

 private:
  void* address() const;
  int64_t bytes() const { return count_ * (type_ == Type::kFloat32 ? 4 : 8); }

  int64_t count_;
  Type type_;
  Device device_;
  std::unique_ptr<DeviceMemory> memory_;
};

// A table of rows of bytes on a device, of which programs take some as an input
// (Program::set_rows).
class ByteRows {
 public:
  ByteRows(int64_t rows, int64_t bytes, Device device = default_device());
  ~ByteRows();
  ByteRows(ByteRows&&) noexcept;
  ByteRows& operator=(ByteRows&&) noexcept;

  void write(int64_t first, std::span<const uint8_t> rows);  // whole ones, from row `first` on

  int64_t rows() const { return rows_; }
  int64_t bytes() const { return bytes_; }  // of a row
  Device device() const { return device_; }
  const DeviceMemory& memory() const { return *memory_; }

 private:
  int64_t rows_, bytes_;
  Device device_;
  std::unique_ptr<DeviceMemory> memory_;
};

}  // namespace agora::compute
