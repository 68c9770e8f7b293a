#pragma once
#include <agora/planning/load.h>

#include "base/error.h"
#include "fuzz/target.h"

namespace agora::fuzz {

// Reads a model of the format that the name's extension says, and looks at all of it.
inline void read_model(const std::string& name, std::string_view input) {
  const planning::Model model = planning::load(as_file(name, input).string());
  for (planning::State s = 0; s < model.states(); ++s) {
    CHECK(!model.state_name(s).empty(), "state {} has no name", s);
    for (planning::Action a = 0; a < model.actions(); ++a) {
      double sum = 0;
      for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
        const planning::Model::Transition t = model.transition(s, a, i);
        CHECK(t.next >= 0 && t.next < model.states(), "to state {}", t.next);
        sum += t.probability;
      }
      CHECK(model.transition_count(s, a) == 0 || (sum > 1 - 1e-4 && sum < 1 + 1e-4), "sum {}", sum);
    }
  }
}

}  // namespace agora::fuzz
