// Any planning model as an environment. What a learner that discounts as the model does earns on
// average from the start is the planner's value: the reward of the last transition has the
// discounted reward of the end in it.
#include <agora/planning/load.h>

#include <cmath>
#include <map>
#include <mutex>

#include "agents/worlds.h"
#include "base/text.h"
#include "planning/models/builtin.h"

namespace agora::agents::kind_tabular {
namespace {

using planning::Model;

constexpr int64_t kMostNumbers = int64_t{1} << 20;  // of an observation
constexpr size_t kMostKept = 1024;                  // models of levels
constexpr const char* kPreset = "maze(rows=11,cols=11)";

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> all{
      file("model",
           "a file or a built-in model, maze(rows=11,cols=11) unless told; one that has a "
           "seed, which is not given, has a level for each"),
      {"discount", std::nullopt, 0, 1, false, "in place of the model's own"},
      {"limit", 1000, 1, 1e9, true, "steps of an episode at most"}};
  return all;
}

// Whether the text of a built-in model leaves its seed to the level.
bool has_free_seed(const std::string& source) {
  const size_t open = source.find('(');
  const std::string name(trimmed(source.substr(0, open)));
  for (const planning::BuiltIn& builtin : planning::builtins()) {
    if (builtin.name != name) continue;
    const bool has_seed =
        std::any_of(builtin.parameters.begin(), builtin.parameters.end(),
                    [](const auto& parameter) { return parameter.name == "seed"; });
    size_t at = open;
    while (at != source.npos) {
      const size_t equals = source.find('=', at + 1);
      if (equals == source.npos) break;
      if (trimmed(source.substr(at + 1, equals - at - 1)) == "seed") return false;
      at = source.find(',', equals);
    }
    return has_seed;
  }
  return false;
}

std::string with_seed(const std::string& source, int64_t seed) {
  const size_t close = source.rfind(')');
  if (close == source.npos) return fmt::format("{}(seed={})", source, seed);
  const size_t open = source.find('(');
  const bool empty = trimmed(source.substr(open + 1, close - open - 1)).empty();
  return fmt::format("{}{}seed={})", source.substr(0, close), empty ? "" : ",", seed);
}

// The models of levels; those made last are kept.
class Models {
 public:
  Models(std::string source, std::optional<double> discount)
      : source_(std::move(source)), seeded_(has_free_seed(source_)), discount_(discount) {}

  std::shared_ptr<const Model> at(int64_t level) {
    if (!seeded_) level = 0;
    {
      std::lock_guard lock(mutex_);
      if (const auto found = kept_.find(level); found != kept_.end()) return found->second;
    }
    auto made = std::make_shared<const Model>(load(level));
    std::lock_guard lock(mutex_);
    if (kept_.size() >= kMostKept) kept_.clear();
    return kept_.emplace(level, std::move(made)).first->second;
  }

 private:
  Model load(int64_t level) const {
    Model model = planning::load(seeded_ ? with_seed(source_, level) : source_,
                                 {.format = {}, .grid = {}, .discount = discount_, .start = {}});
    for (const planning::Start& start : model.start()) {
      if (start.probability > 0 && !model.terminal(start.state)) return model;
    }
    throw user_error("{}: the start state '{}' is terminal: there is nothing to do", source_,
                     model.state_name(model.start()[0].state));
  }

  std::string source_;
  bool seeded_;
  std::optional<double> discount_;
  std::mutex mutex_;
  std::map<int64_t, std::shared_ptr<const Model>> kept_;
};

// Where a state is seen: on a map its cell, so that levels with other walls fit too.
int64_t places(const Model& model) {
  return model.grid().empty() ? model.states() : int64_t{model.grid().rows} * model.grid().cols;
}
int64_t place(const Model& model, planning::State s) {
  return model.grid().empty() ? s : model.grid().cell(s);
}

class Tabular {
 public:
  struct Level {
    std::shared_ptr<const Model> model;
  };
  struct State {
    planning::State now, before;
  };

  Tabular(std::string source, std::optional<double> discount, int32_t limit, bool features)
      : source_(source), limit_(limit), features_(features) {
    models_ = std::make_shared<Models>(std::move(source), discount);
    const auto first = models_->at(0);
    const int64_t numbers = features_ ? (first->grid().empty() ? 1 : 2) : places(*first);
    if (numbers > kMostNumbers) {
      throw user_error(
          "{}: {} states are too many to be seen one by one; see them by tabular/features", source_,
          numbers);
    }
    space_.observation = {features_ ? ObservationSpace::Type::kReal : ObservationSpace::Type::kByte,
                          {numbers}};
    space_.actions = first->actions();
    space_.discount = first->discount();
    places_ = places(*first);
  }

  const Space& space() const { return space_; }
  int32_t limit() const { return limit_; }
  int64_t nanoseconds() const { return 100; }

  void make(int64_t number, Level& level) const {
    level.model = models_->at(number);
    if (places(*level.model) == places_ && level.model->actions() == space_.actions) return;
    throw user_error("{}: level {} has {} states and {} actions, level 0 has {} and {}", source_,
                     number, places(*level.model), level.model->actions(), places_, space_.actions);
  }

  void begin(const Level& level, State& state, Rng& rng) const {
    state.before = state.now = draw_start(*level.model, rng);
  }

  Outcome step(const Level& level, State& state, int32_t action, Rng& rng) const {
    const Model& model = *level.model;
    const int64_t count = model.transition_count(state.now, action);
    CHECK(count > 0, "action {} does not exist in state {}", action, state.now);
    int64_t chosen = 0;
    if (count > 1) {
      double luck = rng.uniform();
      while (chosen + 1 < count &&
             (luck -= model.transition(state.now, action, chosen).probability) >= 0) {
        ++chosen;
      }
    }
    const Model::Transition landing = model.transition(state.now, action, chosen);
    state.before = std::exchange(state.now, landing.next);
    if (!model.terminal(state.now)) return {static_cast<float>(landing.reward), End::kNone};
    const double end = model.discount() * model.terminal_reward(state.now);
    return {static_cast<float>(landing.reward + end), End::kTerminated};
  }

  void observe(const Level& level, const State& state, std::byte* bytes) const {
    std::memset(bytes, 0, static_cast<size_t>(space_.observation.bytes()));
    update(level, state, bytes);
  }
  void update(const Level& level, const State& state, std::byte* bytes) const {
    const Model& model = *level.model;
    if (!features_) {
      bytes[place(model, state.before)] = std::byte{0};
      bytes[place(model, state.now)] = std::byte{255};
      return;
    }
    // From 0 to 1: the number of the state, or row and column.
    const int64_t rows = model.grid().empty() ? 1 : model.grid().rows, columns = places_ / rows;
    const int64_t at = place(model, state.now);
    std::array<float, 2> numbers{share(at / columns, rows), share(at % columns, columns)};
    const size_t count = model.grid().empty() ? 1 : 2;
    std::memcpy(bytes, numbers.data() + 2 - count, count * sizeof(float));
  }
  void mask(const Level& level, const State& state, uint8_t* mask) const {
    for (int32_t a = 0; a < space_.actions; ++a) mask[a] = level.model->has(state.now, a);
  }

  bool possible(const Level& level, const State& state) const {
    const planning::State states = level.model->states();
    return state.now >= 0 && state.now < states && state.before >= 0 && state.before < states &&
           !level.model->terminal(state.now);
  }

  Environment::Picture picture(const Level& level, const State& state) const;

 private:
  static float share(int64_t index, int64_t count) {
    return count < 2 ? 0 : static_cast<float>(index) / static_cast<float>(count - 1);
  }

  static planning::State draw_start(const Model& model, Rng& rng) {
    const auto starts = model.start();
    while (true) {
      double luck = rng.uniform();
      planning::State drawn = starts.back().state;
      for (const planning::Start& start : starts) {
        if ((luck -= start.probability) >= 0) continue;
        drawn = start.state;
        break;
      }
      if (!model.terminal(drawn)) return drawn;
    }
  }

  std::shared_ptr<Models> models_;
  std::string source_;
  int32_t limit_;
  bool features_;
  int64_t places_ = 0;
  Space space_;
};

// A map as it is; other models as a square of their states.
Environment::Picture Tabular::picture(const Level& level, const State& state) const {
  const Model& model = *level.model;
  const planning::Grid& grid = model.grid();
  const auto columns =
      grid.empty() ? static_cast<int64_t>(std::ceil(std::sqrt(places_))) : int64_t{grid.cols};
  const int64_t rows = (places_ + columns - 1) / columns;
  const int64_t zoom = std::clamp<int64_t>(256 / std::max(rows, columns), 1, 16);
  Environment::Picture picture{rows * zoom, columns * zoom, {}};
  for (int64_t row = 0; row < picture.height; ++row) {
    for (int64_t column = 0; column < picture.width; ++column) {
      const int64_t cell = row / zoom * columns + column / zoom;
      const char kind =
          grid.empty() || cell >= places_ ? '.' : grid.cells[static_cast<size_t>(cell)];
      std::array<uint8_t, 3> colour{235, 235, 235};
      if (kind == '#') colour = {60, 60, 70};
      if (kind == 'G') colour = {250, 208, 64};
      if (kind == '!') colour = {230, 72, 72};
      if (cell == place(model, state.now)) colour = {64, 128, 255};
      picture.rgb.insert(picture.rgb.end(), colour.begin(), colour.end());
    }
  }
  return picture;
}

}  // namespace

EnvironmentKind entry_tabular() {
  return {.name = "tabular",
          .summary = "a planning model: a file or a built-in one, whose seed is the level",
          .forms = {"states", "features"},
          .parameters = parameters(),
          .make = [](const std::string& form, const EnvironmentOptions& options) {
            const Told told("tabular", parameters(), options.arguments);
            const std::string source = told.text("model");
            std::optional<double> discount;
            if (options.arguments.contains("discount")) discount = told.number("discount");
            return std::make_unique<Worlds<Tabular>>(
                Tabular(source.empty() ? kPreset : source, discount, told.whole("limit"),
                        form == "features"),
                options);
          }};
}

}  // namespace agora::agents::kind_tabular
