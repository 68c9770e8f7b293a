#pragma once
#include <functional>
#include <string>
#include <vector>

#include "agents/evaluation/watch.h"

namespace agora::cli {

// A policy at play as an animated PNG.
struct Film {
  std::string png;
  std::vector<agents::Episode> episodes;
  bool whole = true;  // or only the first pictures, if there were more than `most`
};
Film film(agents::Policy& policy, const agents::EvaluationOptions& how, int64_t pictures_a_second,
          size_t most);

}  // namespace agora::cli
