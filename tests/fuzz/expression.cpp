// Built-in models, "maze(rows=3,cols=3)"; only small ones are made.
#include "base/error.h"
#include "fuzz/target.h"
#include "planning/models/builtin.h"

namespace agora::fuzz {

const bool known = add("expression", [](std::string_view input) {
  const auto [builtin, arguments] = planning::parse_builtin(std::string(input));
  double size = 1;
  for (const Parameter& parameter : builtin.parameters) {
    const double value = arguments.number(parameter.name);
    CHECK(value >= parameter.low && value <= parameter.high, "{} is {}", parameter.name, value);
    if (parameter.whole && parameter.name != "seed") size *= std::max(1.0, value);
  }
  if (size <= 1000) CHECK(builtin.make(arguments).states() > 0, "no states");
});

}  // namespace agora::fuzz
