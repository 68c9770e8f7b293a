#include "base/toml.h"

#include "fuzz/target.h"

namespace agora::fuzz {

// What was read is written, and reads back as the same.
const bool known = add("toml", [](std::string_view input) {
  const std::string text = to_toml(parse_toml(input, "input"));
  CHECK(to_toml(parse_toml(text, "output")) == text, "{} reads back differently", text);
});

}  // namespace agora::fuzz
