#include "agents/novelty.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace agora::agents {
namespace {

constexpr int64_t kLeastPooled = 48;  // a side
constexpr int64_t kPool = 3;

}  // namespace

Novelty::Novelty(const ObservationSpace& space, int64_t neighbours, int64_t most)
    : space_(space),
      neighbours_(neighbours),
      most_(most),
      size_(space.size()),
      pools_(std::min(space.shape[0], space.shape[1]) >= kLeastPooled) {
  if (pools_) size_ = space.shape[0] / kPool * (space.shape[1] / kPool) * space.shape[2];
  frames_.resize(static_cast<size_t>(size_ * most_));
  now_.resize(static_cast<size_t>(size_));
  next_.resize(now_.size());
  squares_.resize(static_cast<size_t>(most_));
}

void Novelty::pool(std::span<const std::byte> picture) {
  if (!pools_) {
    std::memcpy(next_.data(), picture.data(), next_.size());
    return;
  }
  const int64_t width = space_.shape[1], channels = space_.shape[2];
  size_t at = 0;
  for (int64_t y = 0; y + kPool <= space_.shape[0]; y += kPool) {
    for (int64_t x = 0; x + kPool <= width; x += kPool) {
      for (int64_t c = 0; c < channels; ++c) {
        int sum = 0;
        for (int64_t v = y; v < y + kPool; ++v) {
          for (int64_t u = x; u < x + kPool; ++u) {
            sum += std::to_integer<int>(picture[(v * width + u) * channels + c]);
          }
        }
        next_[at++] = static_cast<uint8_t>((sum + kPool * kPool / 2) / (kPool * kPool));
      }
    }
  }
}

// What was seen before is as far from a picture as from the last one, but for what has changed in
// between, which is little in most games.
double Novelty::see(std::span<const std::byte> picture) {
  pool(picture);
  const int64_t known = kept();
  for (int64_t k = 0; known > 0 && k < size_; ++k) {
    const int change = next_[k] - now_[k], sum = next_[k] + now_[k];
    if (change == 0) continue;
    const uint8_t* const before = &frames_[k * most_];
    for (int64_t j = 0; j < known; ++j) squares_[j] += change * (sum - 2 * before[j]);
  }
  double distance = 0;
  if (known > 0) {
    order_.assign(squares_.begin(), squares_.begin() + known);
    const auto chosen = order_.begin() + std::min(neighbours_, known) - 1;
    std::nth_element(order_.begin(), chosen, order_.end());
    distance = std::sqrt(static_cast<double>(*chosen)) / 255;
  }
  add(seen_ % most_);
  ++seen_;
  return distance;
}

void Novelty::add(int64_t slot) {
  for (int64_t k = 0; k < size_; ++k) frames_[k * most_ + slot] = next_[k];
  squares_[slot] = 0;
  std::swap(now_, next_);
}

void Novelty::save(std::span<uint8_t> frames) const {
  const int64_t known = kept();
  for (int64_t k = 0; k < size_; ++k) {
    std::copy_n(&frames_[k * most_], known, &frames[k * known]);
  }
}

void Novelty::restore(int64_t seen, std::span<const uint8_t> frames) {
  seen_ = seen;
  const int64_t known = kept();
  if (known == 0) return;
  std::fill(squares_.begin(), squares_.end(), 0);
  const int64_t last = (seen_ - 1) % most_;
  for (int64_t k = 0; k < size_; ++k) {
    uint8_t* const own = &frames_[k * most_];
    std::copy_n(&frames[k * known], known, own);
    now_[k] = own[last];
    for (int64_t j = 0; j < known; ++j) {
      const int away = now_[k] - own[j];
      squares_[j] += away * away;
    }
  }
}

}  // namespace agora::agents
