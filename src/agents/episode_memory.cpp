#include "agents/episode_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace agora::agents {
namespace {

constexpr int64_t kLeastSide = 48;    // of a picture in which something moves
constexpr size_t kMostPlaces = 4096;  // more are not remembered
constexpr size_t kMostLooks = 64;     // of places in pictures, before what moves is found
constexpr double kLuck = 0.1;         // the temperature of choices in known places, in nats
constexpr double kExpected = 0.25;    // the chance of somewhere new where a known place is expected
constexpr double kUnlike = 0.1;       // how many places say that two actions differ, at first
constexpr double kGoOn = 1;           // nats for going on with what has begun to move
constexpr int32_t kMostShifts = 3;    // then it does not leave the place
constexpr double kHopeless = -std::numeric_limits<double>::infinity();

}  // namespace

std::vector<OptionParameter<MemoryOptions>> memory_parameters() {
  return {parameter("recall", &MemoryOptions::cost, 0, 100,
                    "what a step through places that the episode has shown costs, in nats; 0: "
                    "no memory"),
          parameter("recall-radius", &MemoryOptions::radius, 0, 1,
                    "how far a place reaches in pictures, as a share of the size of what moves")};
}

EpisodeMemory::EpisodeMemory(const ObservationSpace& space, int64_t actions,
                             const MemoryOptions& how)
    : space_(space),
      actions_(static_cast<size_t>(actions)),
      how_(how),
      records_(actions_),
      agreed_(actions_ * actions_),
      both_(actions_ * actions_),
      new_(actions_),
      new_again_(actions_),
      differs_(actions_ * actions_),
      guesses_(actions_) {
  if (space.type == ObservationSpace::Type::kByte && space.is_picture() &&
      std::min(space.shape[0], space.shape[1]) >= kLeastSide) {
    mover_.emplace(space);
    marks_.resize(static_cast<size_t>(space.shape[0] * space.shape[1]));
  }
}

void EpisodeMemory::clear() { *this = EpisodeMemory(space_, static_cast<int64_t>(actions_), how_); }

void EpisodeMemory::see(std::span<const std::byte> observation, std::span<float> logits) {
  if (mover_) {
    if (mover_->gave_up()) return;
    const bool was_found = mover_->is_found();
    mover_->see(observation);
    if (mover_->gave_up()) {
      places_.clear();
      here_ = kNone;
      return;
    }
    if (mover_->world_changed()) ++stage_;
    if (mover_->is_found() && !was_found && here_ != kNone) locate(here_, mover_->before(), false);
  }
  int32_t now = find(observation);
  const bool is_new = now == kNone;
  if (is_new) now = add(observation);
  if (now != kNone) {
    if (mover_ && mover_->is_found()) locate(now, mover_->at(), mover_->is_measured());
    if (is_new || places_[now].stage < stage_) ask(places_[now], logits);
  }
  link(now, is_new);
  if (is_new) return;
  take_logarithms();
  plan();
  const double hope = places_[now].hope;
  if (hope == kHopeless) return;
  guess(now);
  for (size_t a = 0; a < actions_; ++a) {
    const Way& way = places_[now].ways[a];
    const double worth = is_open(now, a) ? guesses_[a] : places_[way.to].hope - step_cost(way);
    logits[a] = static_cast<float>(std::max((worth - hope) / kLuck, -1e6));
  }
}

void EpisodeMemory::did(int32_t action) {
  done_ = action;
  expected_known_ = here_ != kNone && expects_known(places_[here_], static_cast<size_t>(action));
}

// The nearest place within reach, or the one that looks exactly so.
int32_t EpisodeMemory::find(std::span<const std::byte> observation) const {
  const bool is_found = mover_ && mover_->is_found();
  double least = is_found ? how_.radius * mover_->size() : 0;
  int32_t nearest = kNone;
  for (size_t k = 0; k < places_.size(); ++k) {
    const Place& place = places_[k];
    double apart = 0;
    if (is_found && place.at) {
      apart =
          std::max(std::abs(place.at->x - mover_->at().x), std::abs(place.at->y - mover_->at().y));
    } else if (!std::equal(place.look.begin(), place.look.end(), observation.begin(),
                           observation.end())) {
      continue;
    }
    if (apart > least || (apart == least && nearest != kNone)) continue;
    least = apart;
    nearest = static_cast<int32_t>(k);
    if (!is_found) break;
  }
  return nearest;
}

int32_t EpisodeMemory::add(std::span<const std::byte> observation) {
  const bool is_found = mover_ && mover_->is_found();
  if (places_.size() >= (mover_ && !is_found ? kMostLooks : kMostPlaces)) return kNone;
  Place& place = places_.emplace_back();
  if (!is_found) place.look.assign(observation.begin(), observation.end());
  place.ways.resize(actions_);
  return static_cast<int32_t>(places_.size()) - 1;
}

// Where a place is in the picture; what was measured is not given up for what was not.
void EpisodeMemory::locate(int32_t at, Point point, bool is_measured) {
  Place& place = places_[at];
  if (place.at && (place.is_measured || !is_measured)) return;
  mark(place.reach, -1);
  const double reach = how_.radius * mover_->size();
  const auto bound = [](double value, int64_t most) {
    return std::clamp(static_cast<int64_t>(std::lround(value)), int64_t{0}, most);
  };
  place.at = point;
  place.is_measured = is_measured;
  place.look = {};
  place.reach = {bound(point.x - reach, space_.shape[1]), bound(point.y - reach, space_.shape[0]),
                 bound(point.x + reach, space_.shape[1]), bound(point.y + reach, space_.shape[0])};
  mark(place.reach, 1);
}

void EpisodeMemory::mark(const Box& reach, int32_t by) {
  for (int64_t y = reach.y0; y < reach.y1; ++y) {
    for (int64_t x = reach.x0; x < reach.x1; ++x) marks_[y * space_.shape[1] + x] += by;
  }
}

void EpisodeMemory::ask(Place& place, std::span<const float> logits) const {
  place.stage = stage_;
  place.guesses.clear();
  const float largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float each : logits) sum += std::exp(static_cast<double>(each - largest));
  for (const float each : logits) {
    place.guesses.push_back(each - largest - static_cast<float>(std::log(sum)));
  }
}

// The last action led from the last place to this one.
void EpisodeMemory::link(int32_t to, bool is_new) {
  const int32_t from = std::exchange(here_, to), action = std::exchange(done_, kNone);
  going_ = kNone;
  if (from == kNone || action == kNone || to == kNone) return;
  Way& way = places_[from].ways[action];
  Record& record = records_[action];
  const bool has_moved = mover_ && mover_->is_found() && mover_->has_moved();
  if (has_moved) {
    record.shift.x += mover_->at().x - mover_->before().x;
    record.shift.y += mover_->at().y - mover_->before().y;
    ++record.shifts;
  }
  if (mover_ && mover_->world_changed()) return;
  if (to == from && has_moved && way.shifts < kMostShifts) {
    ++way.shifts;
    going_ = action;
    return;
  }
  const bool is_first = way.to == kNone;
  if (way.stage < stage_) way.tries = 0;
  way.stage = stage_;
  way.to = to;
  ++way.tries;
  auto& known = places_[to].from;
  const std::pair<int32_t, int32_t> source(from, action);
  if (std::find(known.begin(), known.end(), source) == known.end()) known.push_back(source);
  if (!is_first) return;
  if (expected_known_) {
    ++(is_new ? record.found_again : record.failed_again);
  } else {
    ++(is_new ? record.found : record.failed);
  }
  compare(places_[from], static_cast<size_t>(action));
}

// Whether an action that was tried first led to where others lead.
void EpisodeMemory::compare(const Place& place, size_t action) {
  for (size_t a = 0; a < actions_; ++a) {
    if (a == action || place.ways[a].to == kNone) continue;
    const double same = place.ways[a].to == place.ways[action].to ? 1 : 0;
    for (const size_t k : {a * actions_ + action, action * actions_ + a}) {
      both_[k] += 1;
      agreed_[k] += same;
    }
  }
}

// What was not tried, or did nothing while the world was another.
bool EpisodeMemory::is_open(int32_t place, size_t action) const {
  const Way& way = places_[place].ways[action];
  return way.to == kNone || (way.to == place && way.stage < stage_);
}

// Whether the usual shift of an action ends in another place that is known.
bool EpisodeMemory::expects_known(const Place& place, size_t action) const {
  const Record& record = records_[action];
  if (!place.at || record.shifts == 0) return false;
  const auto x = static_cast<int64_t>(std::floor(place.at->x + record.shift.x / record.shifts)),
             y = static_cast<int64_t>(std::floor(place.at->y + record.shift.y / record.shifts));
  if (x < 0 || y < 0 || x >= space_.shape[1] || y >= space_.shape[0]) return false;
  const Box& own = place.reach;
  const bool is_own = x >= own.x0 && x < own.x1 && y >= own.y0 && y < own.y1;
  return marks_[y * space_.shape[1] + x] > (is_own ? 1 : 0);
}

double EpisodeMemory::step_cost(const Way& way) const {
  return how_.cost * (way.stage < stage_ ? 1 : way.tries);
}

// What the policy says of the actions that are open here, and their effect elsewhere.
void EpisodeMemory::guess(int32_t at) {
  const Place& place = places_[at];
  for (size_t a = 0; a < actions_; ++a) guesses_[a] = is_open(at, a) ? 0 : kHopeless;
  for (size_t tried = 0; tried < actions_; ++tried) {
    if (is_open(at, tried)) continue;
    const double* const differs = &differs_[tried * actions_];
    for (size_t a = 0; a < actions_; ++a) guesses_[a] = std::min(guesses_[a], differs[a]);
  }
  for (size_t a = 0; a < actions_; ++a) {
    if (guesses_[a] == kHopeless) continue;
    guesses_[a] += place.guesses[a] + (expects_known(place, a) ? new_again_ : new_)[a];
    if (at == here_ && going_ == static_cast<int32_t>(a)) guesses_[a] += kGoOn;
  }
}

void EpisodeMemory::take_logarithms() {
  for (size_t a = 0; a < actions_; ++a) {
    const Record& it = records_[a];
    new_[a] = std::log((1 + it.found) / (1 + it.found + it.failed));
    new_again_[a] =
        std::log(kExpected * (1 + it.found_again) / (1 + it.found_again + it.failed_again));
  }
  for (size_t k = 0; k < both_.size(); ++k) {
    differs_[k] = std::log(1 - agreed_[k] / (both_[k] + kUnlike));
  }
}

// The hope of every place: Dijkstra's algorithm, from the best guess on, against the ways.
void EpisodeMemory::plan() {
  heap_.clear();
  for (int32_t k = 0; k < static_cast<int32_t>(places_.size()); ++k) {
    guess(k);
    const double hope = *std::max_element(guesses_.begin(), guesses_.end());
    places_[k].hope = hope;
    if (hope > kHopeless) heap_.emplace_back(hope, k);
  }
  std::make_heap(heap_.begin(), heap_.end());
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    const auto [hope, at] = heap_.back();
    heap_.pop_back();
    if (hope < places_[at].hope) continue;  // a better one came after it
    for (const auto& [from, action] : places_[at].from) {
      const Way& way = places_[from].ways[action];
      const double found = hope - step_cost(way);
      if (way.to != at || found <= places_[from].hope) continue;
      places_[from].hope = found;
      heap_.emplace_back(found, from);
      std::push_heap(heap_.begin(), heap_.end());
    }
  }
}

}  // namespace agora::agents
