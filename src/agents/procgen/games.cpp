#include "agents/procgen/games.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include "base/error.h"

namespace agora::agents::procgen {
namespace {

constexpr size_t kMostState = size_t{1} << 20;

// Names and values that live as long as the library reads them.
class OptionTable {
 public:
  void number(const char* name, int32_t value) {
    add(name, Option::kInt, 1, &numbers_.emplace_back(value));
  }
  void flag(const char* name, bool value) {
    add(name, Option::kByte, 1, &flags_.emplace_back(value ? 1 : 0));
  }
  void text(const char* name, const std::string& value) {
    std::string& kept = texts_.emplace_back(value);
    add(name, Option::kByte, static_cast<int>(kept.size()), kept.data());
  }
  Options all() { return {options_.data(), static_cast<int>(options_.size())}; }

 private:
  void add(const char* name, int type, int count, void* data) {
    Option& option = options_.emplace_back(Option{{}, type, count, data});
    std::strncpy(option.name, name, sizeof(option.name) - 1);
  }

  std::deque<int32_t> numbers_;
  std::deque<uint8_t> flags_;
  std::deque<std::string> texts_;
  std::vector<Option> options_;
};

template <typename T>
void add_places(std::vector<void*>& places, std::vector<T>& values) {
  for (T& value : values) places.push_back(&value);
}

}  // namespace

Games::Games(const Settings& settings, std::span<std::byte> observations) : library_(library()) {
  const size_t count = observations.size() / kObservation;
  actions_.resize(count);
  previous_levels_.resize(count);
  levels_.resize(count);
  firsts_.resize(count);
  completed_.resize(count);
  rewards_.resize(count);

  OptionTable told;
  told.text("env_name", settings.game);
  told.text("resource_root", library_.assets);
  told.number("num_levels", settings.levels);
  told.number("start_level", settings.first_level);
  told.number("num_actions", kActions);
  told.number("rand_seed", settings.seed);
  told.number("num_threads", settings.threads);
  told.number("distribution_mode", settings.hard ? 1 : 0);
  told.flag("center_agent", true);
  told.flag("use_backgrounds", settings.backgrounds);
  told.flag("use_monochrome_assets", settings.monochrome);
  told.flag("restrict_themes", settings.one_theme);
  games_ = library_.make(static_cast<int>(count), told.all());

  std::vector<void*> seen, infos, actions;
  for (size_t game = 0; game < count; ++game) {
    seen.push_back(observations.data() + game * kObservation);
  }
  add_places(infos, previous_levels_);
  add_places(infos, completed_);
  add_places(infos, levels_);
  add_places(actions, actions_);
  Buffers buffers{seen.data(), rewards_.data(), firsts_.data(), infos.data(), actions.data()};
  library_.set_buffers(games_, &buffers);
  library_.observe(games_);
}

Games::~Games() { library_.close(games_); }

void Games::step(std::span<const int32_t> actions) {
  std::copy(actions.begin(), actions.end(), actions_.begin());
  library_.act(games_);
  library_.observe(games_);
}

void Games::get_state(std::string& bytes, int game) const {
  bytes.resize(kMostState);
  const int size = library_.get_state(games_, game, bytes.data(), static_cast<int>(kMostState));
  bytes.resize(static_cast<size_t>(size));
}

void Games::set_state(std::string& bytes, int game) {
  library_.set_state(games_, game, bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace agora::agents::procgen
