#pragma once

// The widest vectors that the flags of this file allow; the name is also a namespace.
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#define AGORA_AVX512 1
#define AGORA_VECTORS avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define AGORA_AVX512 0
#define AGORA_VECTORS avx2
#else
#error "Agora needs a processor with AVX2 and FMA (x86-64-v3)"
#endif
