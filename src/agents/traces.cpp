#include "agents/traces.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace agora::agents {

ObservationSpace with_trace(const ObservationSpace& space) {
  if (space.type != ObservationSpace::Type::kByte || !space.is_picture()) {
    throw user_error("an explorer follows its trace in pictures, and these observations are none");
  }
  ObservationSpace extended = space;
  ++extended.shape[2];
  return extended;
}

Trace::Trace(const ObservationSpace& space) : channels_(static_cast<size_t>(space.shape[2])) {}

void Trace::see(std::span<const std::byte> picture, std::span<std::byte> extended) {
  if (!has_begun_) {
    first_.assign(picture.begin(), picture.end());
    plane_.assign(picture.size() / channels_, std::byte{0});
    has_begun_ = true;
  }
  for (size_t pixel = 0; pixel < plane_.size(); ++pixel) {
    int most = std::to_integer<int>(plane_[pixel]);
    for (size_t k = pixel * channels_; k < (pixel + 1) * channels_; ++k) {
      most = std::max(most,
                      std::abs(std::to_integer<int>(picture[k]) - std::to_integer<int>(first_[k])));
    }
    plane_[pixel] = static_cast<std::byte>(most);
  }
  extend(picture, extended);
}

void Trace::extend(std::span<const std::byte> picture, std::span<std::byte> extended) const {
  std::byte* out = extended.data();
  for (size_t pixel = 0; pixel < plane_.size(); ++pixel) {
    std::memcpy(out, &picture[pixel * channels_], channels_);
    out[channels_] = plane_[pixel];
    out += channels_ + 1;
  }
}

void Trace::restore(std::span<const std::byte> first, std::span<const std::byte> plane) {
  first_.assign(first.begin(), first.end());
  plane_.assign(plane.begin(), plane.end());
  has_begun_ = true;
}

}  // namespace agora::agents
