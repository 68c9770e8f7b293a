// 3x3 convolutions of images, their gradients, and pools (images.cuh).
// Bands: kImages whole images, or kRows rows of one, with a border of zeros around. Images of few
// channels are stored with three neighbours side by side, so that a window is three tall.
template <int kHeight, int kWidth, int kChannels, int kImages, int kRows, bool kNarrow>
struct Band {
  static constexpr int kDeep = kNarrow ? 16 : kChannels, kChunks = kDeep / 8;
  static constexpr int kHigh = kRows + 2, kWide = kNarrow ? kWidth : kWidth + 2;
  static constexpr int kTaps = kNarrow ? 3 : 9, kSteps = kTaps * kDeep / 16;
  static constexpr int kPixels = kImages * kRows * kWidth, kTiles = (kPixels + 15) / 16;
  static constexpr int kBytes = kImages * kHigh * kWide * kDeep * 2;
  static constexpr int kBands = (kHeight + kRows - 1) / kRows;
  static constexpr int kSize = kHeight * kWidth * kChannels;  // of an image
  static constexpr int kImageHeight = kHeight, kImageWidth = kWidth, kFrom = kChannels;
  static constexpr int kTogether = kImages, kBandRows = kRows;
  static constexpr bool kIsNarrow = kNarrow;
  DEVICE static int items(int64 rows) { return int((rows + kImages - 1) / kImages) * kBands; }
};

#ifdef __CUDACC__
// The place of a pixel's upper left neighbour in a band.
template <typename B>
DEVICE int place_of(int pixel) {
  if (B::kPixels % 16 != 0 && pixel >= B::kPixels) pixel = 0;
  constexpr int kOfImage = B::kBandRows * B::kImageWidth;
  return (pixel / kOfImage * B::kHigh + pixel / B::kImageWidth % B::kBandRows) * B::kWide +
         pixel % B::kImageWidth;
}
template <typename B>
DEVICE constexpr int tap_at(int tap) {
  return B::kIsNarrow ? tap * B::kWide : tap / 3 * B::kWide + tap % 3;
}

// Fills the band of an item from images of bf16.
template <typename B>
DEVICE void fill(unsigned band, const bf16* from, int64 first, int64 rows, int top) {
  constexpr int kCount = B::kTogether * B::kHigh * B::kImageWidth * B::kChunks;
  for (int k = thread_index(); k < kCount; k += kThreads) {
    const int c = k % B::kChunks, q = k / B::kChunks % B::kImageWidth;
    const int r = k / (B::kChunks * B::kImageWidth) % B::kHigh;
    const int i = k / (B::kChunks * B::kImageWidth * B::kHigh), h = top + r - 1;
    const bool inside = h >= 0 && h < B::kImageHeight && first + i < rows;
    const int64 at = (first + i) * B::kSize + (h * B::kImageWidth + q) * B::kFrom + c * 8;
    fetch(band + chunk_at<B::kChunks>((i * B::kHigh + r) * B::kWide + q + 1, c),
          from + (inside ? at : 0), inside);
  }
}
template <typename B, typename From>
DEVICE void fill(unsigned band, const Pixels<From>& from, int64 first, int64 rows, int top) {
  for (int k = thread_index(); k < B::kTogether * B::kHigh * B::kWide; k += kThreads) {
    const int q = k % B::kWide, r = k / B::kWide % B::kHigh, i = k / (B::kWide * B::kHigh);
    const int h = top + r - 1;
    float values[16] = {};
    if (h >= 0 && h < B::kImageHeight && first + i < rows) {
      const int64 at = (first + i) * B::kSize + (h * B::kWide + q - 1) * B::kFrom;
#pragma unroll
      for (int e = 0; e < 3 * B::kFrom; ++e) {
        const int column = q - 1 + e / B::kFrom;
        if (column >= 0 && column < B::kWide) values[e] = value_at(from, at + e);
      }
    }
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const float* const v = values + 8 * c;
      store_words(band + chunk_at<2>(k, c), packed(v[0], v[1]), packed(v[2], v[3]),
                  packed(v[4], v[5]), packed(v[6], v[7]));
    }
  }
}
// The border left and right, which no item changes.
template <typename B>
DEVICE void clear_border(unsigned band) {
  if (B::kIsNarrow) return;
  for (int k = thread_index(); k < B::kTogether * B::kHigh * 2 * B::kChunks; k += kThreads) {
    const int c = k % B::kChunks, side = k / B::kChunks % 2, r = k / (2 * B::kChunks);
    store_words(band + chunk_at<B::kChunks>(r * B::kWide + side * (B::kWide - 1), c), 0, 0, 0, 0);
  }
}

// The weight of input c of tap `tap` and output o; turned round for the gradient by the input.
template <typename B, int kTo, bool kForward>
DEVICE float weight_at(const float* w, int tap, int c, int o) {
  if (B::kIsNarrow) {
    return c < 3 * B::kFrom ? w[(tap * 3 * B::kFrom + c) * kTo + o] : 0.0f;
  }
  return kForward ? w[(tap * B::kFrom + c) * kTo + o] : w[((8 - tap) * kTo + o) * B::kFrom + c];
}

// Weights in the order in which tensor cores take them: outputs in an order that gives a lane
// 2 * kColumns neighbouring channels. A warp takes eight outputs of eight inputs at a time.
template <typename B, int kTo, bool kForward>
DEVICE void keep_weights(unsigned char* to, const float* w) {
  constexpr int kColumns = kTo / 8, kPairs = B::kSteps * 8;
  for (int k = thread_index(); k < kPairs * kTo; k += kThreads) {
    const int part = k / 32, o = part % kColumns * 8 + k % 8;
    const int in = (part / kColumns * 4 + k / 8 % 4) * 2;
    const int tap = in / B::kDeep, c = in % B::kDeep, i = o % (2 * kColumns) / 2;
    const int lane = (o / (2 * kColumns) * 2 + o % 2) * 4 + in % 8 / 2;
    const int word = in / 16 * (kColumns * 64) + i / 2 * 128 + lane * 4 + i % 2 * 2 + in % 16 / 8;
    reinterpret_cast<unsigned*>(to)[word] = packed(weight_at<B, kTo, kForward>(w, tap, c, o),
                                                   weight_at<B, kTo, kForward>(w, tap, c + 1, o));
  }
}

// Pixels of a band in the rows of tensor cores, outputs in their columns; a warp takes kTogether
// tiles of sixteen pixels at once.
template <typename B, int kTo, int kTogether, typename Give>
DEVICE void multiply_band(unsigned weights, unsigned band, int64 first, int64 rows, int top,
                          const Give& give) {
  constexpr int kColumns = kTo / 8;
  const int lane = lane_index();
  for (int group = warp_index(); group * kTogether < B::kTiles; group += kWarps) {
    int place[kTogether];
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      const int tile = group * kTogether + u;
      place[u] = place_of<B>((tile < B::kTiles ? tile : 0) * 16 + lane % 16);
    }
    float sum[kTogether][kColumns][4] = {};
#pragma unroll
    for (int step = 0; step < B::kSteps; ++step) {
      const int tap = step * 16 / B::kDeep, c = step * 2 % B::kChunks + lane / 16;
      uint4 b[kColumns / 2];
#pragma unroll
      for (int i = 0; i < kColumns / 2; ++i) {
        b[i] = shared_words(weights + ((step * (kColumns / 2) + i) * 32 + lane) * 16);
      }
#pragma unroll
      for (int u = 0; u < kTogether; ++u) {
        unsigned a[4];
        matrices(a, band + chunk_at<B::kChunks>(place[u] + tap_at<B>(tap), c));
#pragma unroll
        for (int i = 0; i < kColumns / 2; ++i) {
          multiply_add(sum[u][2 * i], a, b[i].x, b[i].y);
          multiply_add(sum[u][2 * i + 1], a, b[i].z, b[i].w);
        }
      }
    }
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int pixel = (group * kTogether + u) * 16 + lane / 4 + half * 8;
        constexpr int kOfImage = B::kBandRows * B::kImageWidth;
        const int64 row = first + pixel / kOfImage;
        const int h = top + pixel % kOfImage / B::kImageWidth, q = pixel % B::kImageWidth;
        if (pixel >= B::kPixels || row >= rows || h >= B::kImageHeight) continue;
        float values[2 * kColumns];
#pragma unroll
        for (int i = 0; i < 2 * kColumns; ++i) values[i] = sum[u][i / 2][half * 2 + i % 2];
        give(row, (h * B::kImageWidth + q) * kTo + lane % 4 * (2 * kColumns), values);
      }
    }
  }
}
template <typename B, int kTo, bool kForward, typename From, typename Give>
DEVICE void convolution(int64 rows, const From& from, const float* w, const Give& give) {
  FAST_BYTES
  constexpr int kColumns = kTo / 8;
  const unsigned weights = shared_address(fast_bytes);
  const unsigned band = weights + B::kSteps * kColumns * 256;
  keep_weights<B, kTo, kForward>(fast_bytes, w);
  clear_border<B>(band);
  const int items = B::items(rows);
  for (int item = block_index(); item < items; item += block_count()) {
    const int64 first = int64(item / B::kBands) * B::kTogether;
    const int top = item % B::kBands * B::kBandRows;
    fill<B>(band, from, first, rows, top);
    fetched();
    multiply_band<B, kTo, kColumns <= 4 ? 4 : 2>(weights, band, first, rows, top, give);
    __syncthreads();
  }
}

// The gradient by the weights and by a bias: each block adds up its items in `sums`, first
// (taps, from, to), then (to). Inputs in the rows of tensor cores, pixels in between.
template <typename B, int kTo, typename From>
DEVICE void convolution_weights(int64 rows, const From& from, const bf16* slope, float* sums) {
  FAST_BYTES
  constexpr int kHigh = B::kDeep / 16, kPairs = kTo / 16, kSplit = kWarps / (kHigh * kPairs);
  constexpr int kSlopeChunks = kTo / 8, kOfImage = B::kBandRows * B::kImageWidth;
  const unsigned band = shared_address(fast_bytes), slopes = band + (B::kBytes + 127) / 128 * 128;
  const int lane = lane_index(), warp = warp_index();
  const int high = warp % kHigh, pair = warp / kHigh % kPairs, part = warp / (kHigh * kPairs);
  float sum[B::kTaps + 1][2][4] = {};
  const unsigned ones[4] = {0x3f803f80u, 0x3f803f80u, 0x3f803f80u, 0x3f803f80u};
  clear_border<B>(band);
  const int items = B::items(rows);
  for (int item = block_index(); item < items; item += block_count()) {
    const int64 first = int64(item / B::kBands) * B::kTogether;
    const int top = item % B::kBands * B::kBandRows;
    fill<B>(band, from, first, rows, top);
    for (int k = thread_index(); k < B::kTiles * 16 * kSlopeChunks; k += kThreads) {
      const int c = k % kSlopeChunks, pixel = k / kSlopeChunks;
      const int h = top + pixel % kOfImage / B::kImageWidth;
      const int64 row = first + pixel / kOfImage;
      const bool inside = pixel < B::kPixels && row < rows && h < B::kImageHeight;
      const int64 at = (row * B::kImageHeight + h) * B::kImageWidth + pixel % B::kImageWidth;
      fetch(slopes + chunk_at<kSlopeChunks>(pixel, c), slope + (inside ? at * kTo + c * 8 : 0),
            inside);
    }
    fetched();
    for (int tile = part; tile < B::kTiles && part < kSplit; tile += kSplit) {
      unsigned b[4];
      turned_matrices(b,
                      slopes + chunk_at<kSlopeChunks>(tile * 16 + lane % 16, pair * 2 + lane / 16));
      const int place = place_of<B>(tile * 16 + lane % 8 + lane / 16 * 8);
#pragma unroll
      for (int tap = 0; tap < B::kTaps; ++tap) {
        unsigned a[4];
        turned_matrices(
            a, band + chunk_at<B::kChunks>(place + tap_at<B>(tap), high * 2 + lane / 8 % 2));
        multiply_add(sum[tap][0], a, b[0], b[1]);
        multiply_add(sum[tap][1], a, b[2], b[3]);
      }
      if (high == 0) {
        multiply_add(sum[B::kTaps][0], ones, b[0], b[1]);
        multiply_add(sum[B::kTaps][1], ones, b[2], b[3]);
      }
    }
    __syncthreads();
  }
  // The warps that share a tile add up in their order.
  constexpr int kWeights = 9 * B::kFrom * kTo;
  float* const together = reinterpret_cast<float*>(fast_bytes);
  ROLLED for (int turn = 0; turn < kSplit; ++turn) {
    if (part == turn) {
#pragma unroll
      for (int k = 0; k < (B::kTaps + 1) * 8; ++k) {
        const int tap = k / 8, in = high * 16 + lane / 4 + k / 2 % 2 * 8;
        const int o = pair * 16 + k / 4 % 2 * 8 + lane % 4 * 2 + k % 2;
        const bool bias = tap == B::kTaps;
        const bool mine = bias ? in == 0 : !B::kIsNarrow || in < 3 * B::kFrom;
        const int window = B::kIsNarrow ? tap * 3 : tap;
        float& to = together[bias ? kWeights + o : (window * B::kFrom + in) * kTo + o];
        if (mine) to = turn == 0 ? sum[tap][k / 4 % 2][k % 4] : to + sum[tap][k / 4 % 2][k % 4];
      }
    }
    __syncthreads();
  }
  for (int k = thread_index(); k < kWeights + kTo; k += kThreads) {
    sums[int64(block_index()) * (kWeights + kTo) + k] = together[k];
  }
}
#else
template <typename B, int kTo, bool kForward, typename From, typename Give>
void convolution_of(int64 in, const From& from, const float* w, int64 row, const Give& give) {
  for (int p = 0; p < B::kImageHeight * B::kImageWidth; ++p) {
    float sums[kTo] = {};
    for (int tap = 0; tap < 9; ++tap) {
      const int sign = kForward ? 1 : -1;
      const int h = p / B::kImageWidth + sign * (tap / 3 - 1);
      const int q = p % B::kImageWidth + sign * (tap % 3 - 1);
      if (h < 0 || h >= B::kImageHeight || q < 0 || q >= B::kImageWidth) continue;
      const int64 at = in * B::kSize + (h * B::kImageWidth + q) * B::kFrom;
      for (int c = 0; c < B::kFrom; ++c) {
        const float x = value_at(from, at + c);
        for (int o = 0; o < kTo; ++o) {
          sums[o] += x * rounded(kForward ? w[(tap * B::kFrom + c) * kTo + o]
                                          : w[(tap * kTo + o) * B::kFrom + c]);
        }
      }
    }
    for (int o = 0; o < kTo; o += 8) {
      float values[8];
      for (int k = 0; k < 8; ++k) values[k] = sums[o + k];
      give(row, p * kTo + o, values);
    }
  }
}
template <typename B, int kTo, bool kForward, typename From, typename Give>
void convolution(int64 rows, const From& from, const float* w, const Give& give) {
  for (int64 row = 0; row < rows; ++row) {
    convolution_of<B, kTo, kForward>(row, from, w, row, give);
  }
}
template <typename B, int kTo, typename From>
void convolution_weights(int64 rows, const From& from, const bf16* slope, float* sums) {
  constexpr int kWeights = 9 * B::kFrom * kTo, kPixels = B::kImageHeight * B::kImageWidth;
  for (int k = 0; k < kWeights + kTo; ++k) sums[k] = 0;
  for (int64 i = 0; i < rows * kPixels; ++i) {
    const int64 row = i / kPixels;
    const int p = int(i % kPixels);
    for (int o = 0; o < kTo; ++o) sums[kWeights + o] += slope[i * kTo + o];
    for (int tap = 0; tap < 9; ++tap) {
      const int h = p / B::kImageWidth + tap / 3 - 1, q = p % B::kImageWidth + tap % 3 - 1;
      if (h < 0 || h >= B::kImageHeight || q < 0 || q >= B::kImageWidth) continue;
      const int64 at = row * B::kSize + (h * B::kImageWidth + q) * B::kFrom;
      for (int c = 0; c < B::kFrom; ++c) {
        const float x = value_at(from, at + c);
        for (int o = 0; o < kTo; ++o) {
          sums[(tap * B::kFrom + c) * kTo + o] += x * slope[i * kTo + o];
        }
      }
    }
  }
}
#endif

// A max-pool: 3x3, stride 2, padding 1.
template <int kHeight, int kWidth, int kChannels, typename Give>
DEVICE void pool(int64 rows, const bf16* x, const Give& give) {
  constexpr int kDown = (kHeight + 1) / 2, kAcross = (kWidth + 1) / 2, kParts = kChannels / 8;
  const int64 count = rows * (kDown * kAcross * kParts), step = int64(kThreads) * block_count();
  for (int64 k = int64(block_index()) * kThreads + thread_index(); k < count; k += step) {
    const int64 row = k / (kDown * kAcross * kParts);
    const int f = int(k % (kDown * kAcross * kParts)), c = f % kParts * 8, p = f / kParts;
    float top[8];
    bool fresh = true;
    UNROLL(9)
    for (int n = 0; n < 9; ++n) {
      const int h = p / kAcross * 2 - 1 + n / 3, q = p % kAcross * 2 - 1 + n % 3;
      if (h < 0 || h >= kHeight || q < 0 || q >= kWidth) continue;
      float values[8];
      load(values, x + (row * (kHeight * kWidth) + h * kWidth + q) * kChannels + c);
      UNROLL(8)
      for (int e = 0; e < 8; ++e) top[e] = fresh || !(values[e] <= top[e]) ? values[e] : top[e];
      fresh = false;
    }
    give(row, p * kChannels + c, top);
  }
}
// The gradient goes to the first maximum in reading order. A thread walks down a column of windows
// and the one right of it, and gives the pixels of two columns once all their windows are known.
template <int kHeight, int kWidth, int kChannels, typename Give>
DEVICE void pool_gradient(int64 rows, const bf16* x, const bf16* slope, const Give& give) {
  constexpr int kDown = (kHeight + 1) / 2, kAcross = (kWidth + 1) / 2, kParts = kChannels / 4;
  const int64 count = rows * (kAcross * kParts), step = int64(kThreads) * block_count();
  for (int64 k = int64(block_index()) * kThreads + thread_index(); k < count; k += step) {
    const int64 row = k / (kAcross * kParts);
    const int c = int(k % kParts) * 4, across = int(k / kParts % kAcross);
    const bf16* const from = x + row * (kHeight * kWidth * kChannels) + c;
    float seen[3][5][4];  // three rows of five pixels
    int best[2][4];       // of the windows of this row: which of nine pixels
    float given[2][4] = {};
    float below[2][4] = {};  // what the pixels below the windows before got
    const auto see = [&](float(&to)[5][4], int h) {
      UNROLL(5)
      for (int j = 0; j < 5; ++j) {
        const int q = 2 * across - 1 + j;
        if (h < kHeight && q >= 0 && q < kWidth) load(to[j], from + (h * kWidth + q) * kChannels);
      }
    };
    // Pixels 2 across and 2 across + 1 of row n of these windows get their part.
    const auto add = [&](float(&to)[2][4], int n) {
      UNROLL(4)
      for (int e = 0; e < 4; ++e) {
        to[0][e] += best[0][e] == 3 * n + 1 ? given[0][e] : 0.0f;
        to[1][e] += best[0][e] == 3 * n + 2 ? given[0][e] : 0.0f;
        to[1][e] += best[1][e] == 3 * n ? given[1][e] : 0.0f;
      }
    };
    const auto give_row = [&](float(&values)[2][4], int h) {
      UNROLL(2)
      for (int j = 0; j < 2; ++j) {
        const int q = 2 * across + j;
        if (q < kWidth) give(row, (h * kWidth + q) * kChannels + c, values[j]);
      }
    };
    ROLLED for (int u = 0; u < kDown; ++u) {
      see(seen[1], 2 * u);
      see(seen[2], 2 * u + 1);
      UNROLL(2)
      for (int side = 0; side < 2; ++side) {
        float top[4];
        UNROLL(4)
        for (int e = 0; e < 4; ++e) best[side][e] = -1;
        if (across + side >= kAcross) continue;
        UNROLL(9)
        for (int n = 0; n < 9; ++n) {
          const int h = 2 * u - 1 + n / 3, j = 2 * side + n % 3, q = 2 * across - 1 + j;
          if (h < 0 || h >= kHeight || q < 0 || q >= kWidth) continue;
          UNROLL(4)
          for (int e = 0; e < 4; ++e) {
            if (best[side][e] >= 0 && seen[n / 3][j][e] <= top[e]) continue;
            top[e] = seen[n / 3][j][e];
            best[side][e] = n;
          }
        }
        load(given[side],
             slope + (row * (kDown * kAcross) + u * kAcross + across + side) * kChannels + c);
      }
      add(below, 0);
      if (u > 0) give_row(below, 2 * u - 1);
      float values[2][4] = {};
      add(values, 1);
      give_row(values, 2 * u);
      UNROLL(8)
      for (int e = 0; e < 8; ++e) below[e / 4][e % 4] = 0;
      add(below, 2);
      UNROLL(20)
      for (int e = 0; e < 20; ++e) seen[0][e / 4][e % 4] = seen[2][e / 4][e % 4];
    }
    if (kHeight % 2 == 0) give_row(below, kHeight - 1);
  }
}
