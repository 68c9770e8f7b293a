// Cassandra's text format.
#include "fuzz/model_file.h"

namespace agora::fuzz {

const bool known =
    add("cassandra", [](std::string_view input) { read_model("input.pomdp", input); });

}  // namespace agora::fuzz
