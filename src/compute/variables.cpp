#include "compute/variables.h"

#include <algorithm>

#include "base/error.h"

namespace agora::compute {
namespace {

Shape stored_shape(const Variables::Entry& entry, int64_t rows) {
  Shape shape = entry.shape;
  if (is_row_local(shape)) shape[0] = rows;
  return shape;
}

}  // namespace

Variables::Variables(const Graph& graph, Type type, int64_t rows, Device device)
    : type_(type), rows_(rows), device_(device) {
  for (int32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.op != Op::kVariable) continue;
    if (is_row_local(node.shape) && rows < 1) {
      throw user_error("variable '{}' of shape {} needs a number of rows", node.name,
                       to_string(node.shape));
    }
    const int64_t count = feature_count(node.shape) * (is_row_local(node.shape) ? rows : 1);
    entries_.push_back({.node = id,
                        .name = node.name,
                        .shape = node.shape,
                        .count = count,
                        .current = DeviceArray(count, type, device),
                        .next = DeviceArray(count, type, device),
                        .initial = graph.initializer(id)});
  }
}

void Variables::initialize(uint64_t seed, uint32_t stream) {
  for (int64_t k = 0; k < size(); ++k) {
    Entry& it = entry(k);
    std::vector<double> values(static_cast<size_t>(it.count));
    Rng rng(seed, stream, static_cast<uint32_t>(k));
    it.initial(values, stored_shape(it, rows_), rng);
    set(it.name, values);
  }
}

std::vector<std::string> Variables::names() const {
  std::vector<std::string> names;
  for (const Entry& it : entries_) names.push_back(it.name);
  return names;
}

int64_t Variables::find(std::string_view name) const {
  for (int64_t k = 0; k < size(); ++k) {
    if (entry(k).name == name) return k;
  }
  throw user_error("there is no variable '{}'{}", name, suggestion(name, names()));
}

const Shape& Variables::shape(std::string_view name) const { return entry(find(name)).shape; }
int64_t Variables::count(std::string_view name) const { return entry(find(name)).count; }

std::vector<double> Variables::get(std::string_view name) const {
  const Entry& it = entry(find(name));
  std::vector<double> values(static_cast<size_t>(it.count));
  it.current.read(std::span<double>(values));
  return values;
}

namespace {

template <typename From>
void assign(Variables::Entry& it, std::span<const From> values) {
  if (static_cast<int64_t>(values.size()) != it.count) {
    throw user_error("variable '{}' of shape {} has {} values, found {}", it.name,
                     to_string(it.shape), it.count, values.size());
  }
  it.current.set(values);
}

}  // namespace

void Variables::set(std::string_view name, std::span<const double> values) {
  assign(entry(find(name)), values);
}

void Variables::set(std::string_view name, std::span<const float> values) {
  assign(entry(find(name)), values);
}

void Variables::commit(int64_t index) { std::swap(entry(index).current, entry(index).next); }

namespace {

template <typename Real>
StoredTensor stored_as(const Variables::Entry& it, const Shape& shape) {
  std::vector<Real> values(static_cast<size_t>(it.count));
  it.current.read(std::span<Real>(values));
  return StoredTensor::of<Real>(it.name, shape, values);
}

}  // namespace

std::vector<StoredTensor> Variables::stored() const {
  std::vector<StoredTensor> tensors;
  for (const Entry& it : entries_) {
    const Shape shape = stored_shape(it, rows_);
    tensors.push_back(type_ == Type::kFloat32 ? stored_as<float>(it, shape)
                                              : stored_as<double>(it, shape));
  }
  return tensors;
}

void Variables::save(const std::filesystem::path& file) const {
  TensorFile contents;
  contents.tensors = stored();
  write_safetensors(file, contents);
}

void Variables::load(const std::filesystem::path& file) { load(read_safetensors(file)); }

void Variables::load(const TensorFile& contents) {
  std::vector<const StoredTensor*> found;
  for (const Entry& it : entries_) {
    const StoredTensor* tensor = contents.find(it.name);
    if (tensor == nullptr) {
      throw user_error("{}: tensor '{}' of shape {} is missing", contents.path, it.name,
                       to_string(it.shape));
    }
    const Shape expected = stored_shape(it, rows_);
    if (tensor->shape != expected) {
      throw user_error("{}: tensor '{}' has shape {}, expected {}", contents.path, it.name,
                       to_string(tensor->shape), to_string(expected));
    }
    found.push_back(tensor);
  }
  for (const StoredTensor& tensor : contents.tensors) {
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& it) { return it.name == tensor.name; });
    if (known == entries_.end()) {
      throw user_error("{}: unknown tensor '{}'{}", contents.path, tensor.name,
                       suggestion(tensor.name, names()));
    }
  }
  for (size_t k = 0; k < found.size(); ++k) {
    assign<double>(entries_[k], found[k]->values<double>());
  }
}

Snapshot::Snapshot(Variables& variables, const std::vector<std::string>& names)
    : variables_(variables) {
  for (const std::string& name : names) {
    const int64_t index = variables.find(name);
    kept_.emplace_back(
        index, DeviceArray(variables.entry(index).count, variables.type(), variables.device()));
  }
}

void Snapshot::take() {
  for (auto& [index, array] : kept_) array.copy(variables_.entry(index).current);
}

void Snapshot::restore() {
  for (auto& [index, array] : kept_) variables_.entry(index).current.copy(array);
}

}  // namespace agora::compute
