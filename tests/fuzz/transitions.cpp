// Tables of transitions.
#include "fuzz/model_file.h"

namespace agora::fuzz {

const bool known =
    add("transitions", [](std::string_view input) { read_model("input.csv", input); });

}  // namespace agora::fuzz
