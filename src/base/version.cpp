#include <agora/version.h>

#include "base/features.h"

namespace agora {

const char* version() { return AGORA_VERSION; }

}  // namespace agora
