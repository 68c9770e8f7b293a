#pragma once
#include <agora/auctions.h>

#include "base/safetensors.h"

namespace agora::auctions {

// The parameters of a RegretNet whose file has tensors but no metadata of ours.
Parameters plain_regretnet(const TensorFile& file);

}  // namespace agora::auctions
