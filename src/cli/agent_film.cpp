#include "cli/agent_film.h"

#include "report/png.h"

namespace agora::cli {

Film film(agents::Policy& policy, const agents::EvaluationOptions& how, int64_t pictures_a_second,
          size_t most) {
  std::vector<report::Raster> frames;
  Film made;
  made.episodes = agents::watch(
      policy, how, [&](const agents::Environment::Picture& picture, const agents::Episode&) {
        if (frames.size() == most) {
          made.whole = false;
          return;
        }
        report::Raster& frame = frames.emplace_back();
        frame.width = picture.width;
        frame.height = picture.height;
        frame.pixels = picture.rgb;
      });
  made.png = report::encode_apng(frames, static_cast<int>(1000 / pictures_a_second));
  return made;
}

}  // namespace agora::cli
