#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/safetensors.h"
#include "compute/device_array.h"
#include "compute/graph.h"

namespace agora::compute {

// The state of programs: parameters, optimiser moments, misreports. Several programs of one graph
// may share it, and run on its device. A program's updates appear here when its run has ended;
// the host sees them when it asks.
class Variables {
 public:
  // All variables that the graph has now; row-local ones get `rows` rows.
  Variables(const Graph& graph, Type type = Type::kFloat32, int64_t rows = 0,
            Device device = default_device());
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

  // Runs the initialisers: variable k draws from Rng(seed, stream, k).
  void initialize(uint64_t seed, uint32_t stream = 0);

  std::vector<std::string> names() const;
  const Shape& shape(std::string_view name) const;
  int64_t count(std::string_view name) const;
  std::vector<double> get(std::string_view name) const;
  void set(std::string_view name, std::span<const double> values);
  void set(std::string_view name, std::span<const float> values);

  // Tensors of a safetensors file by name. Loading checks names and shapes: one line says which
  // tensor is missing, superfluous or of another shape, and nothing is changed then.
  void save(const std::filesystem::path& file) const;
  void load(const std::filesystem::path& file);
  std::vector<StoredTensor> stored() const;
  void load(const TensorFile& contents);

  Type type() const { return type_; }
  Device device() const { return device_; }
  int64_t rows() const { return rows_; }

  // For executors: `current` is read during a run, `next` is written, commit swaps them.
  struct Entry {
    int32_t node;
    std::string name{};
    Shape shape{};
    int64_t count;  // with all rows
    DeviceArray current, next;
    Initializer initial{};
  };
  int64_t find(std::string_view name) const;  // index of an entry, or an error
  Entry& entry(int64_t index) { return entries_[static_cast<size_t>(index)]; }
  const Entry& entry(int64_t index) const { return entries_[static_cast<size_t>(index)]; }
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  void commit(int64_t index);

 private:
  Type type_;
  int64_t rows_;
  Device device_;
  std::vector<Entry> entries_;
};

// Values of some variables, kept on their device.
class Snapshot {
 public:
  Snapshot(Variables& variables, const std::vector<std::string>& names);
  void take();
  void restore();

 private:
  Variables& variables_;
  std::vector<std::pair<int64_t, DeviceArray>> kept_;  // by entry
};

}  // namespace agora::compute
