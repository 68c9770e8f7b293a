// A stack of layers of one image in a block's memory (compute/image_stacks.h): a convolution a
// strip of rows at a time, the pool of its result, then convolutions of the small images, which lie
// there with a border of zeros. After convolutions.cuh; the writer defines fast_bytes on the host.
#ifdef __CUDACC__
FAST_BYTES

// Where channels c and on of a pixel of the small images of type T are.
template <typename T>
DEVICE bf16* place_in(unsigned char* tensor, int f) {
  const int p = f / T::kFrom, c = f % T::kFrom;
  const int place = (p / T::kImageWidth + 1) * T::kWide + p % T::kImageWidth + 1;
  return reinterpret_cast<bf16*>(tensor + chunk_at<T::kChunks>(place, c / 8)) + c % 8;
}
// The same in a strip: a ring of kRows + 1 rows of images (kHeight, kWidth, kChannels).
template <int kWidth, int kChannels, int kRows>
DEVICE bf16* place_in_strip(unsigned char* strip, int f) {
  const int p = f / kChannels, c = f % kChannels;
  const int place = (p / kWidth + 1) % (kRows + 1) * kWidth + p % kWidth;
  return reinterpret_cast<bf16*>(strip + chunk_at<kChannels / 8>(place, c / 8)) + c % 8;
}
template <typename T, int kCount>
DEVICE void load_fast(float (&to)[kCount], unsigned char* tensor, int f) {
  if constexpr (kCount <= 8) {
    load(to, place_in<T>(tensor, f));
  } else {
#pragma unroll
    for (int k = 0; k < kCount; k += 8) {
      load(reinterpret_cast<float(&)[8]>(to[k]), place_in<T>(tensor, f + k));
    }
  }
}
template <typename T, int kCount>
DEVICE void store_fast(unsigned char* tensor, int f, const float (&from)[kCount]) {
  if constexpr (kCount <= 8) {
    store(place_in<T>(tensor, f), from);
  } else {
#pragma unroll
    for (int k = 0; k < kCount; k += 8) {
      store(place_in<T>(tensor, f + k), reinterpret_cast<const float(&)[8]>(from[k]));
    }
  }
}
template <int kWidth, int kChannels, int kRows, int kCount>
DEVICE void store_strip(unsigned char* strip, int f, const float (&from)[kCount]) {
  if constexpr (kCount <= 8) {
    store(place_in_strip<kWidth, kChannels, kRows>(strip, f), from);
  } else {
#pragma unroll
    for (int k = 0; k < kCount; k += 8) {
      store(place_in_strip<kWidth, kChannels, kRows>(strip, f + k),
            reinterpret_cast<const float(&)[8]>(from[k]));
    }
  }
}

// The border of small images, which stays.
template <typename T>
DEVICE void clear_around(unsigned tensor) {
  for (int k = thread_index(); k < T::kHigh * T::kWide * T::kChunks; k += kThreads) {
    const int place = k / T::kChunks, r = place / T::kWide, q = place % T::kWide;
    if (r == 0 || r == T::kHigh - 1 || q == 0 || q == T::kWide - 1)
      store_words(tensor + k * 16, 0, 0, 0, 0);
  }
}
// Tiles that a warp takes at once. Weights are read anew by every warp: where they are many, half
// of the warps take twice as many tiles.
DEVICE constexpr int tiles_together(int tiles, int columns) {
  const int most = columns < 4 ? 4 : 2, each = tiles / (columns < 4 ? kWarps : kWarps / 2);
  return each >= most ? most : each >= 2 ? 2 : 1;
}

// The convolution of image `row`, whose first band is on its way, and its pool. What the next image
// begins with is on its way when it ends.
template <typename B, int kTo, typename From, typename Convolved, typename Pooled>
DEVICE void pooled_convolution(int64 row, int64 rows, const From& from, unsigned weights,
                               unsigned band, unsigned char* strip, const Convolved& convolved,
                               const Pooled& pooled) {
  constexpr int kHeight = B::kImageHeight, kWidth = B::kImageWidth, kRows = B::kBandRows;
  constexpr int kAcross = kWidth / 2, kParts = kTo / 8;
  for (int top = 0; top < kHeight; top += kRows) {
    fetched();
    multiply_band<B, kTo, tiles_together(B::kTiles, kTo / 8)>(weights, band, row, rows, top,
                                                              convolved);
    __syncthreads();
    const bool last = top + kRows == kHeight;
    const int64 next = last ? row + block_count() : row;
    if (next < rows) fill<B>(band, from, next, rows, last ? 0 : top + kRows);
    for (int k = thread_index(); k < kRows / 2 * kAcross * kParts; k += kThreads) {
      const int c = k % kParts * 8, q = k / kParts % kAcross, h = top / 2 + k / kParts / kAcross;
      float most[8];
      bool fresh = true;
#pragma unroll
      for (int n = 0; n < 9; ++n) {
        const int y = 2 * h - 1 + n / 3, x = 2 * q - 1 + n % 3;
        if (y < 0 || x < 0) continue;
        float values[8];
        load(values, place_in_strip<kWidth, kTo, kRows>(strip, (y * kWidth + x) * kTo + c));
#pragma unroll
        for (int e = 0; e < 8; ++e)
          most[e] = fresh || !(values[e] <= most[e]) ? values[e] : most[e];
        fresh = false;
      }
      pooled(row, (h * kAcross + q) * kTo + c, most);
    }
  }
  __syncthreads();
}
template <typename T, typename Give>
DEVICE void small_convolution(int64 row, int64 rows, unsigned weights, unsigned tensor,
                              const Give& give) {
  multiply_band<T, T::kFrom, tiles_together(T::kTiles, T::kFrom / 8)>(weights, tensor, row, rows, 0,
                                                                      give);
  __syncthreads();
}
template <typename T, typename Give>
DEVICE void small_elements(int64 row, const Give& give) {
  for (int k = thread_index(); k < T::kSize / 8; k += kThreads) {
    float values[8];
    give(row, k * 8, values);
  }
  __syncthreads();
}
#else
template <typename T, int kCount>
void load_fast(float (&to)[kCount], unsigned char* tensor, int f) {
  load(to, reinterpret_cast<bf16*>(tensor) + f);
}
template <typename T, int kCount>
void store_fast(unsigned char* tensor, int f, const float (&from)[kCount]) {
  store(reinterpret_cast<bf16*>(tensor) + f, from);
}
template <int kWidth, int kChannels, int kRows, int kCount>
void store_strip(unsigned char* strip, int f, const float (&from)[kCount]) {
  store(reinterpret_cast<bf16*>(strip) + f, from);
}
template <int kHeight, int kWidth, int kChannels, typename Give>
void pool_of(const bf16* x, int64 row, const Give& give) {
  pool<kHeight, kWidth, kChannels>(1, x,
                                   [&](int64, int f, float(&values)[8]) { give(row, f, values); });
}
template <typename T, typename Give>
void small_elements(int64 row, const Give& give) {
  for (int k = 0; k < T::kSize; k += 8) {
    float values[8];
    give(row, k, values);
  }
}
#endif
