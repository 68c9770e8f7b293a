#include "base/idx.h"

#include "base/error.h"
#include "fuzz/target.h"

namespace agora::fuzz {

const bool known = add("idx", [](std::string_view input) {
  const IdxArray array = parse_idx(input, "input");
  int64_t total = 1;
  for (const int64_t size : array.shape) total *= size;
  CHECK(total == static_cast<int64_t>(array.values.size()), "{} of {}", array.values.size(), total);
});

}  // namespace agora::fuzz
