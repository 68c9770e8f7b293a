#pragma once
#include <string>
#include <vector>

#include "report/png.h"

namespace agora::report {

// The bytes of an animated GIF file that plays for ever. All frames have one palette; of more than
// 256 colours, those near to each other become one.
std::string encode_gif(const std::vector<Frame>& frames);

}  // namespace agora::report
