#include "agents/episode_memory.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace agora::agents {
namespace {

constexpr int64_t kGrain = 4;         // pixels of a picture's side whose mean is compared
constexpr int64_t kLeastSide = 48;    // of a picture that is compared so
constexpr size_t kMostPlaces = 4096;  // more are not remembered
constexpr size_t kMostStrides = 4096;
constexpr double kLongStride = 0.9;  // the quantile of the strides that is a long step
constexpr double kLuck = 0.1;        // the temperature of choices in known places, in nats
constexpr double kHopeless = -std::numeric_limits<double>::infinity();

int64_t distance(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  int64_t sum = 0;
  for (size_t k = 0; k < a.size(); ++k) sum += std::abs(a[k] - b[k]);
  return sum;
}

}  // namespace

std::vector<OptionParameter<MemoryOptions>> memory_parameters() {
  return {parameter("recall", &MemoryOptions::cost, 0, 100,
                    "what a step through places that the episode has shown costs, in nats; 0: "
                    "no memory"),
          parameter("recall-radius", &MemoryOptions::radius, 0, 1,
                    "how far pictures of one place may be apart, as a share of a long step")};
}

EpisodeMemory::EpisodeMemory(const ObservationSpace& space, int64_t actions,
                             const MemoryOptions& how)
    : space_(space),
      is_large_picture_(space.type == ObservationSpace::Type::kByte && space.is_picture() &&
                        std::min(space.shape[0], space.shape[1]) >= kLeastSide),
      actions_(static_cast<size_t>(actions)),
      how_(how),
      moved_(actions_),
      stayed_(actions_),
      doubt_(actions_) {}

void EpisodeMemory::clear() { *this = EpisodeMemory(space_, static_cast<int64_t>(actions_), how_); }

void EpisodeMemory::see(std::span<const std::byte> observation, std::span<float> logits) {
  std::vector<uint8_t> look = look_of(observation);
  note_stride(look);
  int32_t now = find(look);
  const bool is_new = now == kNone;
  last_ = look;
  if (is_new && places_.size() < kMostPlaces) {
    now = static_cast<int32_t>(places_.size());
    Place place;
    place.look = std::move(look);
    place.ways.resize(actions_);
    const float largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float each : logits) sum += std::exp(static_cast<double>(each - largest));
    for (const float each : logits) {
      place.guesses.push_back(each - largest - static_cast<float>(std::log(sum)));
    }
    places_.push_back(std::move(place));
  }
  link(now);
  if (is_new) return;
  plan();
  const Place& here = places_[now];
  if (here.hope == kHopeless) return;
  for (size_t a = 0; a < actions_; ++a) {
    logits[a] = static_cast<float>(std::max((worth(here, a) - here.hope) / kLuck, -1e6));
  }
}

// Pictures are compared by the means of small squares, so that what moves by less than a pixel's
// width changes them little.
std::vector<uint8_t> EpisodeMemory::look_of(std::span<const std::byte> observation) const {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(observation.data());
  if (!is_large_picture_) return {bytes, bytes + observation.size()};
  const int64_t rows = space_.shape[0] / kGrain, columns = space_.shape[1] / kGrain,
                channels = space_.shape[2], line = space_.shape[1] * channels;
  std::vector<uint8_t> look(static_cast<size_t>(rows * columns * channels));
  for (int64_t k = 0; k < static_cast<int64_t>(look.size()); ++k) {
    const int64_t channel = k % channels, x = k / channels % columns, y = k / channels / columns;
    int64_t sum = 0;
    for (int64_t v = y * kGrain; v < (y + 1) * kGrain; ++v) {
      for (int64_t u = x * kGrain; u < (x + 1) * kGrain; ++u) {
        sum += bytes[v * line + u * channels + channel];
      }
    }
    look[k] = static_cast<uint8_t>(sum / (kGrain * kGrain));
  }
  return look;
}

void EpisodeMemory::note_stride(const std::vector<uint8_t>& look) {
  if (!is_large_picture_ || last_.empty() || strides_.size() >= kMostStrides) return;
  const int64_t stride = distance(look, last_);
  if (stride > 0) {
    strides_.insert(std::upper_bound(strides_.begin(), strides_.end(), stride), stride);
  }
}

// The nearest place within reach.
int32_t EpisodeMemory::find(const std::vector<uint8_t>& look) const {
  const int64_t long_stride =
      strides_.empty()
          ? 0
          : strides_[static_cast<size_t>(kLongStride * static_cast<double>(strides_.size()))];
  int64_t least = static_cast<int64_t>(how_.radius * static_cast<double>(long_stride)) + 1;
  int32_t nearest = kNone;
  for (size_t k = 0; k < places_.size(); ++k) {
    const int64_t apart = distance(look, places_[k].look);
    if (apart >= least) continue;
    least = apart;
    nearest = static_cast<int32_t>(k);
  }
  return nearest;
}

// The last action led from the last place to this one.
void EpisodeMemory::link(int32_t to) {
  const int32_t from = std::exchange(here_, to), action = std::exchange(done_, kNone);
  if (from == kNone || action == kNone || to == kNone) return;
  Way& way = places_[from].ways[action];
  auto& known = places_[to].from;
  const std::pair<int32_t, int32_t> source(from, action);
  if (std::find(known.begin(), known.end(), source) == known.end()) known.push_back(source);
  way.to = to;
  if (++way.tries > 1) return;
  ++(to == from ? stayed_ : moved_)[action];
  doubt_[action] = std::log((1 + moved_[action]) / (1 + moved_[action] + stayed_[action]));
}

// What the policy says of an action that was not tried here, and its effect elsewhere.
double EpisodeMemory::guess(const Place& place, size_t action) const {
  return place.guesses[action] + doubt_[action];
}

double EpisodeMemory::worth(const Place& place, size_t action) const {
  const Way& way = place.ways[action];
  if (way.to == kNone) return guess(place, action);
  return places_[way.to].hope - how_.cost * way.tries;
}

// The hope of every place: Dijkstra's algorithm, from the best guess on, against the ways.
void EpisodeMemory::plan() {
  heap_.clear();
  for (size_t k = 0; k < places_.size(); ++k) {
    Place& place = places_[k];
    place.hope = kHopeless;
    for (size_t a = 0; a < actions_; ++a) {
      if (place.ways[a].to == kNone) place.hope = std::max(place.hope, guess(place, a));
    }
    if (place.hope > kHopeless) heap_.emplace_back(place.hope, static_cast<int32_t>(k));
  }
  std::make_heap(heap_.begin(), heap_.end());
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    const auto [hope, at] = heap_.back();
    heap_.pop_back();
    if (hope < places_[at].hope) continue;  // a better one came after it
    for (const auto& [from, action] : places_[at].from) {
      const Way& way = places_[from].ways[action];
      const double found = hope - how_.cost * way.tries;
      if (way.to != at || found <= places_[from].hope) continue;
      places_[from].hope = found;
      heap_.emplace_back(found, from);
      std::push_heap(heap_.begin(), heap_.end());
    }
  }
}

}  // namespace agora::agents
