#pragma once
// What tests of environments share: images of our own, and players.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "agents/environment.h"
#include "base/rng.h"
#include "support/scratch.h"

namespace agora::agents {

// An IDX file in memory.
inline std::string idx(const std::vector<uint32_t>& shape, const std::string& bytes,
                       char type = 8) {
  std::string all{'\0', '\0', type, static_cast<char>(shape.size())};
  for (const uint32_t size : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) all += static_cast<char>(size >> shift & 255);
  }
  return all + bytes;
}

// `count` images of 4 x 3 pixels, number k at the first of them; labels k % 5.
inline Arguments made_images(const Scratch& scratch, int count, const std::string& name = "") {
  std::string pixels, labels;
  for (int k = 0; k < count; ++k) {
    pixels += static_cast<char>(k);
    for (int pixel = 1; pixel < 12; ++pixel) pixels += static_cast<char>(17 * k + 29 * pixel);
    labels += static_cast<char>(k % 5);
  }
  const auto size = static_cast<uint32_t>(count);
  return {{name + "images", scratch.put(name + "images.idx", idx({size, 4, 3}, pixels)).string()},
          {name + "labels", scratch.put(name + "labels.idx", idx({size}, labels)).string()}};
}

inline std::unique_ptr<Environment> level_of(const std::string& name, int64_t level,
                                             Arguments arguments = {}, uint64_t seed = 1) {
  return make_environment(name, {.levels = Levels::range(level, 1),
                                 .count = 1,
                                 .seed = seed,
                                 .arguments = std::move(arguments)});
}

// Random actions among those that may be done; the same for the same seed and step.
inline std::vector<int32_t> random_actions(const Environment& environment, uint64_t seed,
                                           int64_t step) {
  const int32_t actions = environment.space().actions;
  std::vector<int32_t> chosen;
  for (int64_t i = 0; i < environment.count(); ++i) {
    Rng rng(seed, 77, static_cast<uint32_t>(step), static_cast<uint32_t>(i));
    int32_t action;
    do {
      action = static_cast<int32_t>(rng.below(static_cast<uint32_t>(actions)));
    } while (!environment.masks().empty() &&
             !environment.masks()[static_cast<size_t>(i * actions + action)]);
    chosen.push_back(action);
  }
  return chosen;
}

inline std::vector<std::byte> seen_by(std::span<const std::byte> all,
                                      const Environment& environment, int64_t i) {
  const auto bytes = static_cast<size_t>(environment.space().observation.bytes());
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(bytes) * i;
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

// sum of (observed - expected)^2 / expected
inline double chi_square(const std::vector<double>& observed, const std::vector<double>& expected) {
  double sum = 0;
  for (size_t k = 0; k < observed.size(); ++k) {
    const double off = observed[k] - expected[k];
    sum += off * off / expected[k];
  }
  return sum;
}

}  // namespace agora::agents
