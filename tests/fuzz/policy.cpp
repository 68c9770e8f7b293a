// Policies in files; small ones act.
#include "agents/policy.h"

#include "base/error.h"
#include "fuzz/target.h"

namespace agora::fuzz {

const bool known = add("policy", [](std::string_view input) {
  const agents::SavedPolicy saved = agents::load_policy(as_file("input.safetensors", input));
  const auto policy = agents::make_policy(saved, 2);
  const int64_t bytes = policy->space().observation.bytes();
  if (bytes > 100'000) return;
  const std::vector<std::byte> seen(static_cast<size_t>(2 * bytes), std::byte{1});
  std::vector<float> logits(static_cast<size_t>(2 * policy->space().actions));
  policy->logits(seen, 2, logits);
  policy->forget(1);
  policy->logits(seen, 1, logits);
});

}  // namespace agora::fuzz
