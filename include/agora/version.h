#pragma once

namespace agora {

const char* version();  // "0.1.0"

}  // namespace agora
