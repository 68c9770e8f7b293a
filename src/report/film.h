#pragma once
#include <vector>

#include "agents/evaluation/watch.h"
#include "report/png.h"

namespace agora::report {

// A policy at play. An episode's last picture stays for a moment and has a border: green if
// something was earned, grey otherwise.
struct Film {
  std::vector<Frame> frames;
  std::vector<agents::Episode> episodes;
  bool whole = true;  // or only the first pictures, if there were more than `most`
};
Film film(agents::Policy& policy, const agents::EvaluationOptions& how, int64_t pictures_a_second,
          size_t most);

}  // namespace agora::report
