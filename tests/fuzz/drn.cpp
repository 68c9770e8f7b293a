// Storm's explicit format.
#include "fuzz/model_file.h"

namespace agora::fuzz {

const bool known = add("drn", [](std::string_view input) { read_model("input.drn", input); });

}  // namespace agora::fuzz
