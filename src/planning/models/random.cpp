#include <algorithm>

#include "base/error.h"
#include "base/rng.h"
#include "base/thread_pool.h"
#include "planning/distributed/model_share.h"
#include "planning/models/builtin.h"

namespace agora::planning::kind_random {
namespace {

constexpr uint32_t kStream = 0x72616e64;  // of the random numbers

struct Shape {
  int32_t states, actions, branching, terminals, band;
  uint64_t seed;
};

// Successors of one row, all different, in ascending order. The first row of a state has one
// successor above the state, so that an end is always in reach.
void draw_row(const Shape& shape, State s, Action a, std::vector<State>& next) {
  Rng rng(shape.seed, kStream, static_cast<uint32_t>(a), static_cast<uint32_t>(s));
  const int32_t reach = shape.band == 0 ? shape.states : shape.band;
  const int32_t low = std::max(0, s - reach);
  const int32_t high = std::min(shape.states - 1, s + std::min(reach, shape.states - 1 - s));
  const size_t count = static_cast<size_t>(std::min(shape.branching, high - low + 1));
  next.clear();
  if (a == 0) {
    next.push_back(s + 1 + static_cast<State>(rng.below(static_cast<uint32_t>(high - s))));
  }
  while (next.size() < count) {
    const State t = low + static_cast<State>(rng.below(static_cast<uint32_t>(high - low + 1)));
    if (std::find(next.begin(), next.end(), t) == next.end()) next.push_back(t);
  }
  std::sort(next.begin(), next.end());
}

Rng reward_numbers(const Shape& shape, State s, Action a) {
  return Rng(shape.seed, kStream + 1, static_cast<uint32_t>(a), static_cast<uint32_t>(s));
}

double end_reward(const Shape& shape, State s) {
  return Rng(shape.seed, kStream + 2, 0, static_cast<uint32_t>(s)).uniform();
}

Model random_model(const Shape& shape) {
  const State inner = shape.states - shape.terminals;
  std::vector<uint32_t> row_begin{0};
  std::vector<State> next, row;
  std::vector<double> probability, rewards;
  for (State s = 0; s < shape.states; ++s) {
    for (Action a = 0; a < shape.actions; ++a) {
      if (s < inner) {
        draw_row(shape, s, a, row);
        Rng rng = reward_numbers(shape, s, a);
        const double reward = -rng.uniform();
        double sum = 0;
        const size_t begin = probability.size();
        for (size_t i = 0; i < row.size(); ++i) {
          probability.push_back(1e-3 + rng.exponential());
          sum += probability.back();
        }
        for (size_t i = begin; i < probability.size(); ++i) probability[i] /= sum;
        rewards.insert(rewards.end(), row.size(), reward);
        next.insert(next.end(), row.begin(), row.end());
      }
      row_begin.push_back(static_cast<uint32_t>(next.size()));
    }
  }
  std::vector<Terminal> ends;
  for (State s = inner; s < shape.states; ++s) {
    ends.push_back({s, end_reward(shape, s)});
  }
  if (shape.branching > 1) {
    return Model::stochastic(shape.actions, std::move(row_begin), std::move(next),
                             std::move(probability), Rewards(std::move(rewards)), std::move(ends));
  }
  // One successor each: the rows of the inner states are the successor table.
  const size_t rows = static_cast<size_t>(shape.states) * static_cast<size_t>(shape.actions);
  next.resize(rows, kNone);
  rewards.resize(rows, rewards.front());
  return Model::deterministic(shape.actions, std::move(next), Rewards(std::move(rewards)),
                              std::move(ends));
}

// The rows of a range of states; branching is 1.
ModelShare random_share(const Shape& shape, int share, int shares) {
  if (shape.branching > 1) {
    throw user_error("several processes share deterministic models only: give branching=1");
  }
  const Range range = part_range(shape.states, share, shares);
  const State inner = shape.states - shape.terminals;
  std::vector<State> successors, row;
  std::vector<double> rewards;
  std::vector<Terminal> ends;
  for (State s = static_cast<State>(range.begin); s < static_cast<State>(range.end); ++s) {
    if (s >= inner) ends.push_back({s - static_cast<State>(range.begin), end_reward(shape, s)});
    for (Action a = 0; a < shape.actions; ++a) {
      if (s < inner) draw_row(shape, s, a, row);
      successors.push_back(s < inner ? row[0] : kNone);
      rewards.push_back(s < inner ? -reward_numbers(shape, s, a).uniform() : 0.0);
    }
  }
  return make_share(static_cast<State>(range.begin), static_cast<State>(range.end - range.begin),
                    shape.states, shape.actions, std::move(successors),
                    rewards.empty() ? Rewards(0.0) : Rewards(std::move(rewards)), std::move(ends));
}

Shape shape_of(const Told& given) {
  const Shape shape{given.whole("states"),    given.whole("actions"),
                    given.whole("branching"), given.whole("terminals"),
                    given.whole("band"),      static_cast<uint64_t>(given.number("seed"))};
  if (shape.terminals >= shape.states) {
    throw user_error("random: {} terminals of {} states, expected fewer", shape.terminals,
                     shape.states);
  }
  if (double{1} * shape.states * shape.actions * shape.branching > 4e9) {
    throw user_error("random: more than 4e9 transitions");
  }
  return shape;
}

}  // namespace

BuiltIn entry_random() {
  return {.name = "random",
          .summary = "a random MDP; branching=1 is deterministic; rewards in [-1,0), ends in [0,1)",
          .parameters = {{"states", 100, 2, 1e8, true, "number of states"},
                         {"actions", 4, 1, 1000, true, "actions of every state"},
                         {"branching", 3, 1, 1000, true, "successors of every action"},
                         {"seed", 1, 0, 0x1p53, true, "of everything"},
                         {"terminals", 1, 1, 1e8, true, "the last states end"},
                         {"band", 0, 0, 1e8, true, "successors this near only; 0: anywhere"}},
          .make = [](const Told& given) { return random_model(shape_of(given)); },
          .make_share = [](const Told& given, int share,
                           int shares) { return random_share(shape_of(given), share, shares); }};
}

}  // namespace agora::planning::kind_random
