#include "nn/categorical.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace agora::nn {

int32_t sample_categorical(std::span<const float> logits, Rng& rng) {
  CHECK(!logits.empty(), "no categories");
  const double top = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (float logit : logits) total += std::exp(logit - top);
  double left = rng.uniform() * total;
  for (size_t i = 0; i + 1 < logits.size(); ++i) {
    left -= std::exp(logits[i] - top);
    if (left < 0) return static_cast<int32_t>(i);
  }
  return static_cast<int32_t>(logits.size() - 1);
}

int32_t most_likely(std::span<const float> logits) {
  CHECK(!logits.empty(), "no categories");
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace agora::nn
