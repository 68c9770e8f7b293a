#include "report/film.h"

#include <algorithm>

#include "report/palette.h"

namespace agora::report {
namespace {

constexpr int kLastStays = 700;  // milliseconds

void put_border(Raster& picture, Rgb colour) {
  const int64_t width = std::max<int64_t>(1, std::min(picture.width, picture.height) / 40);
  for (int64_t y = 0; y < picture.height; ++y) {
    for (int64_t x = 0; x < picture.width; ++x) {
      const int64_t to_edge = std::min({x, y, picture.width - 1 - x, picture.height - 1 - y});
      if (to_edge < width) picture.set(x, y, colour);
    }
  }
}

}  // namespace

Film film(agents::Policy& policy, const agents::EvaluationOptions& how, int64_t pictures_a_second,
          size_t most) {
  Film made;
  std::vector<size_t> ends;  // one after the last picture of each episode that was kept whole
  made.episodes = agents::watch(
      policy, how, [&](const agents::Environment::Picture& picture, const agents::Episode& now) {
        if (now.steps == 0 && !made.frames.empty() && made.whole)
          ends.push_back(made.frames.size());
        if (made.frames.size() == most) {
          made.whole = false;
          return;
        }
        Frame& frame = made.frames.emplace_back();
        frame.milliseconds = static_cast<int>(1000 / pictures_a_second);
        frame.picture.width = picture.width;
        frame.picture.height = picture.height;
        frame.picture.pixels = picture.rgb;
      });
  if (made.whole) ends.push_back(made.frames.size());
  for (size_t k = 0; k < ends.size(); ++k) {
    Frame& last = made.frames[ends[k] - 1];
    last.milliseconds = std::max(last.milliseconds, kLastStays);
    put_border(last.picture, made.episodes[k].earned > 0 ? kGoalColour : kGapColour);
  }
  return made;
}

}  // namespace agora::report
