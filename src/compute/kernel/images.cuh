// What kernels of images are made of (image_kernels.h). A tensor of images is (rows, height, width,
// channels) in bf16, row after row. Products run on tensor cores, sums are float. What follows an
// operation is given with it: give(row, feature, values) takes neighbouring channels. Compiled for
// the host, one thread computes the same by plain loops. After prelude.cuh and tensor_cores.cuh.
struct bf16 {
  unsigned short bits;
#ifdef __CUDACC__
  DEVICE operator float() const { return __uint_as_float(unsigned(bits) << 16); }
  DEVICE void operator=(float value) { bits = bits_of(value); }
#else
  operator float() const { return __builtin_bit_cast(float, unsigned(bits) << 16); }
  void operator=(float value) {  // to the nearest, ties to even
    const unsigned all = __builtin_bit_cast(unsigned, value);
    bits = value != value ? 0x7fc0 : (unsigned short)((all + 0x7fff + (all >> 16 & 1)) >> 16);
  }
#endif
};
DEVICE float rounded(float value) {
  bf16 it;
  it = value;
  return it;
}

// What a pixel of a first layer is read from: bytes, floats or bf16, times a scale.
template <typename From>
struct Pixels {
  const From* from;
  float scale;
};
template <typename From>
DEVICE float value_at(const Pixels<From>& pixels, int64 i) {
  return rounded(float(pixels.from[i]) * pixels.scale);
}
DEVICE float value_at(const bf16* from, int64 i) { return from[i]; }

#ifdef __CUDACC__
template <int kCount>
DEVICE void load(float (&to)[kCount], const bf16* from) {
  unsigned words[kCount / 2];
  if constexpr (kCount % 8 == 0) {
#pragma unroll
    for (int k = 0; k < kCount / 8; ++k) {
      const uint4 it = reinterpret_cast<const uint4*>(from)[k];
      words[4 * k] = it.x, words[4 * k + 1] = it.y, words[4 * k + 2] = it.z,
                words[4 * k + 3] = it.w;
    }
  } else {
    const uint2 it = *reinterpret_cast<const uint2*>(from);
    words[0] = it.x, words[1] = it.y;
  }
#pragma unroll
  for (int k = 0; k < kCount / 2; ++k) {
    to[2 * k] = __uint_as_float(words[k] << 16);
    to[2 * k + 1] = __uint_as_float(words[k] & 0xffff0000u);
  }
}
template <int kCount>
DEVICE void load(float (&to)[kCount], const float* from) {
#pragma unroll
  for (int k = 0; k < kCount / 4; ++k) {
    const float4 it = reinterpret_cast<const float4*>(from)[k];
    to[4 * k] = it.x, to[4 * k + 1] = it.y, to[4 * k + 2] = it.z, to[4 * k + 3] = it.w;
  }
}
template <int kCount>
DEVICE void store(bf16* to, const float (&from)[kCount]) {
  unsigned words[kCount / 2];
#pragma unroll
  for (int k = 0; k < kCount / 2; ++k) words[k] = packed(from[2 * k], from[2 * k + 1]);
  if constexpr (kCount % 8 == 0) {
#pragma unroll
    for (int k = 0; k < kCount / 8; ++k) {
      reinterpret_cast<uint4*>(to)[k] =
          make_uint4(words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3]);
    }
  } else {
    *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
  }
}

// Where chunk c (8 channels) of a place of kChunks chunks is: eight neighbours in different banks.
template <int kChunks>
DEVICE int chunk_at(int place, int c) {
  constexpr int kShift = kChunks == 2 ? 2 : kChunks == 4 ? 1 : 0;
  return (place * kChunks + (c ^ (place >> kShift & (kChunks < 8 ? kChunks - 1 : 7)))) * 16;
}
#else
#define IMAGE_KERNEL extern "C" void
template <int kCount, typename From>
void load(float (&to)[kCount], const From* from) {
  for (int k = 0; k < kCount; ++k) to[k] = float(from[k]);
}
template <int kCount>
void store(bf16* to, const float (&from)[kCount]) {
  for (int k = 0; k < kCount; ++k) to[k] = from[k];
}
#endif

// A group of elementwise steps on all elements.
template <int kFeatures, typename Give>
DEVICE void elementwise(int64 rows, const Give& give) {
  const int64 count = rows * (kFeatures / 8), step = int64(kThreads) * block_count();
  for (int64 k = int64(block_index()) * kThreads + thread_index(); k < count; k += step) {
    float values[8];
    give(k / (kFeatures / 8), int(k % (kFeatures / 8)) * 8, values);
  }
}

// give(e, the sum of from[part * count + e] in a fixed order): 32 threads share the parts of one.
template <typename Give>
DEVICE void add_parts(int parts, int count, const float* from, const Give& give) {
  if (kWarp == 1) parts = 1;  // one thread is one block
  constexpr int kShare = kThreads >= 32 ? 32 : 1, kElements = kThreads / kShare;
  __shared__ float some[kShare][kElements + 1];
  for (int first = block_index() * kElements; first < count; first += block_count() * kElements) {
    const int e = thread_index() % kElements, share = thread_index() / kElements;
    float sum = 0;
    UNROLL(8)
    for (int part = share; part < parts; part += kShare) {
      if (first + e < count) sum += from[int64(part) * count + first + e];
    }
    some[share][e] = sum;
    block_barrier();
    if (share == 0 && first + e < count) {
      float all = 0;
      for (int k = 0; k < kShare; ++k) all += some[k][e];
      give(first + e, all);
    }
    block_barrier();
  }
}
