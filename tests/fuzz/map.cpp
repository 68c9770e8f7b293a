// Grid maps.
#include "fuzz/model_file.h"

namespace agora::fuzz {

const bool known = add("map", [](std::string_view input) { read_model("input.map", input); });

}  // namespace agora::fuzz
