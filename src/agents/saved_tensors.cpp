#include "agents/saved_tensors.h"

#include <algorithm>

#include "base/error.h"

namespace agora::agents {

const StoredTensor& expect_tensor(const TensorFile& saved, const std::string& name, size_t size) {
  const StoredTensor* found = saved.find(name);
  if (found != nullptr && found->size() == static_cast<int64_t>(size)) return *found;
  throw user_error("{}: expected a tensor '{}' of {} numbers", saved.path, name, size);
}

TensorFile named_below(const TensorFile& saved, const std::string& prefix,
                       const std::vector<std::string>& except) {
  TensorFile found;
  found.path = saved.path;
  for (const StoredTensor& tensor : saved.tensors) {
    const auto begins = [&](const std::string& start) { return tensor.name.starts_with(start); };
    if (!begins(prefix) || std::any_of(except.begin(), except.end(), begins)) continue;
    found.tensors.push_back(tensor);
    found.tensors.back().name = tensor.name.substr(prefix.size());
  }
  return found;
}

std::vector<StoredTensor> stored_under(const compute::Variables& variables,
                                       const std::vector<std::string>& names) {
  std::vector<StoredTensor> own;
  for (StoredTensor& tensor : variables.stored()) {
    if (std::find(names.begin(), names.end(), tensor.name) != names.end()) {
      own.push_back(std::move(tensor));
    }
  }
  return own;
}

void save_variables(const compute::Variables& variables, const std::string& prefix,
                    std::vector<StoredTensor>& saved) {
  for (StoredTensor& each : variables.stored()) {
    each.name = prefix + each.name;
    saved.push_back(std::move(each));
  }
}

void load_variables(compute::Variables& variables, const std::string& prefix,
                    const TensorFile& saved, const std::vector<std::string>& except) {
  variables.load(named_below(saved, prefix, except));
}

}  // namespace agora::agents
