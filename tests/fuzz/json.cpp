#include "base/json.h"

#include "fuzz/target.h"

namespace agora::fuzz {

// What was read is written, and reads back as the same.
const bool known = add("json", [](std::string_view input) {
  const std::string text = dump_json(parse_json(input, "input"));
  CHECK(dump_json(parse_json(text, "output")) == text, "{} reads back differently", text);
});

}  // namespace agora::fuzz
