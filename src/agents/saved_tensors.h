#pragma once
#include <string>
#include <vector>

#include "base/safetensors.h"
#include "compute/variables.h"

// How learners find their own again in what was saved.
namespace agora::agents {

// One that is not there, or of another size, is the user's mistake.
const StoredTensor& expect_tensor(const TensorFile& saved, const std::string& name, size_t size);

// Those whose names begin with `prefix`, without it; what begins with one of `except` is left out.
TensorFile named_below(const TensorFile& saved, const std::string& prefix,
                       const std::vector<std::string>& except);

// The variables of these names alone.
std::vector<StoredTensor> stored_under(const compute::Variables& variables,
                                       const std::vector<std::string>& names);

}  // namespace agora::agents
