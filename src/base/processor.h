#pragma once

namespace agora {

// The vectors that the compute core's inner loops use: what the environment variable AGORA_KERNELS
// names (avx2, avx512, or best, what the processor has), else what the build was told. Decided
// once.
enum class VectorSet { kAvx2, kAvx512 };
VectorSet vector_set();
const char* vector_set_name(VectorSet set);

extern const bool kBuiltForAvx512;  // all of the code: only AGORA_NATIVE does that

// Ends the program in a line where the processor lacks what the code is compiled for. The library
// does so before its own initialisers.
void check_processor();

}  // namespace agora
