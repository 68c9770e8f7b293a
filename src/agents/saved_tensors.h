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

// Variables among what is saved of a learner, each named `prefix` and its own name.
void save_variables(const compute::Variables& variables, const std::string& prefix,
                    std::vector<StoredTensor>& saved);
void load_variables(compute::Variables& variables, const std::string& prefix,
                    const TensorFile& saved, const std::vector<std::string>& except = {});

}  // namespace agora::agents
