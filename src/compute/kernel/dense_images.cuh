// Products of flat images with large matrices (images.cuh): tiles of 64 by 64, sums over pieces of
// 64 of which the next is on its way while one is multiplied. Sizes are multiples of 64.
#ifdef __CUDACC__
// 64 rows of 64 numbers of a matrix (height, width), as chunks of 8.
template <int kWidth>
DEVICE void fetch_square(unsigned to, const bf16* from, int64 row, int64 height, int column) {
#pragma unroll
  for (int k = 0; k < 512 / kThreads; ++k) {
    const int i = k * kThreads + thread_index(), c = i % 8, r = i / 8;
    const bool inside = row + r < height;
    fetch(to + chunk_at<8>(r, c), from + (inside ? (row + r) * kWidth + column + c * 8 : 0),
          inside);
  }
}

// give(row, o, values) of the sums over k of x[row, k] w[k, o]; w has strides kWIn and kWOut.
template <int kIn, int kOut, int kWIn, int kWOut, typename Give>
DEVICE void dense(int64 rows, const bf16* x, const float* w, const Give& give) {
  FAST_BYTES
  constexpr int kWords = 2048 / kThreads, kHalf = 16384;  // a piece of x, then one of w
  const unsigned fast = shared_address(fast_bytes);
  const int lane = lane_index(), high = warp_index() % 4, side = warp_index() / 4;
  const int items = int((rows + 63) / 64) * (kOut / 64);
  float2 weights[kWords];
  const auto word_of = [&](int k, int& in,
                           int& o) {  // neighbours in memory are neighbouring threads
    const int i = k * kThreads + thread_index();
    in = (kWIn == 1 ? i % 32 : i / 64) * 2;
    o = kWIn == 1 ? i / 32 : i % 64;
  };
  const auto read_weights = [&](int from, int column) {
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      int in, o;
      word_of(k, in, o);
      const float* const at = w + int64(from + in) * kWIn + int64(column + o) * kWOut;
      weights[k] = make_float2(at[0], at[kWIn]);
    }
  };
  // Fragments in the order in which lanes read them; a lane's outputs are neighbours.
  const auto keep_weights = [&](int buffer) {
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      int in, o;
      word_of(k, in, o);
      const int i = o % 8 / 2, to = (o % 32 / 8 * 2 + o % 2) * 4 + in % 8 / 2;
      const int word =
          (((in / 16 * 2 + o / 32) * 2 + i / 2) * 32 + to) * 4 + i % 2 * 2 + in % 16 / 8;
      reinterpret_cast<unsigned*>(fast_bytes + buffer * kHalf + 8192)[word] =
          packed(weights[k].x, weights[k].y);
    }
  };
  for (int item = block_index(); item < items; item += block_count()) {
    const int64 row = int64(item / (kOut / 64)) * 64;
    const int column = item % (kOut / 64) * 64;
    float sum[4][4] = {};
    fetch_square<kIn>(fast, x, row, rows, 0);
    read_weights(0, column);
    keep_weights(0);
    fetched();
    ROLLED for (int piece = 0; piece < kIn / 64; ++piece) {
      const int next = (piece + 1) % 2;
      const bool more = piece + 1 < kIn / 64;
      if (more) {
        fetch_square<kIn>(fast + next * kHalf, x, row, rows, (piece + 1) * 64);
        read_weights((piece + 1) * 64, column);
      }
      const unsigned here = fast + piece % 2 * kHalf;
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        unsigned a[4];
        matrices(a, here + chunk_at<8>(high * 16 + lane % 16, step * 2 + lane / 16));
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const uint4 b =
              shared_words(here + 8192 + (((step * 2 + side) * 2 + i) * 32 + lane) * 16);
          multiply_add(sum[2 * i], a, b.x, b.y);
          multiply_add(sum[2 * i + 1], a, b.z, b.w);
        }
      }
      if (more) keep_weights(next);
      fetched();
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64 r = row + high * 16 + lane / 4 + half * 8;
      float values[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) values[i] = sum[i / 2][half * 2 + i % 2];
      if (r < rows) give(r, column + side * 32 + lane % 4 * 8, values);
    }
  }
}

// sums[k, o] = the sum over rows of x[row, k] slope[row, o].
template <int kIn, int kOut>
DEVICE void dense_weights(int64 rows, const bf16* x, const bf16* slope, float* sums) {
  FAST_BYTES
  constexpr int kHalf = 16384;
  const unsigned fast = shared_address(fast_bytes);
  const int lane = lane_index(), high = warp_index() % 4, side = warp_index() / 4;
  const int pieces = int((rows + 63) / 64);
  for (int item = block_index(); item < (kIn / 64) * (kOut / 64); item += block_count()) {
    const int in = item / (kOut / 64) * 64, out = item % (kOut / 64) * 64;
    const auto fetch_piece = [&](int piece) {
      const unsigned to = fast + piece % 2 * kHalf;
      fetch_square<kIn>(to, x, int64(piece) * 64, rows, in);
      fetch_square<kOut>(to + 8192, slope, int64(piece) * 64, rows, out);
    };
    float sum[4][4] = {};
    fetch_piece(0);
    fetched();
    ROLLED for (int piece = 0; piece < pieces; ++piece) {
      if (piece + 1 < pieces) fetch_piece(piece + 1);
      const unsigned here = fast + piece % 2 * kHalf;
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        unsigned a[4];
        turned_matrices(
            a, here + chunk_at<8>(step * 16 + lane % 8 + lane / 16 * 8, high * 2 + lane / 8 % 2));
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          unsigned b[4];
          turned_matrices(
              b, here + 8192 + chunk_at<8>(step * 16 + lane % 16, side * 4 + i * 2 + lane / 16));
          multiply_add(sum[2 * i], a, b[0], b[1]);
          multiply_add(sum[2 * i + 1], a, b[2], b[3]);
        }
      }
      fetched();
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int r = in + high * 16 + lane / 4 + k % 2 * 8,
                o = out + side * 32 + k / 2 * 8 + lane % 4 * 2;
      *reinterpret_cast<float2*>(sums + int64(r) * kOut + o) =
          make_float2(sum[k / 2][k % 2 * 2], sum[k / 2][k % 2 * 2 + 1]);
    }
  }
}
#else
template <int kIn, int kOut, int kWIn, int kWOut, typename Give>
void dense(int64 rows, const bf16* x, const float* w, const Give& give) {
  for (int64 row = 0; row < rows; ++row) {
    for (int o = 0; o < kOut; o += 8) {
      float values[8] = {};
      for (int k = 0; k < 8; ++k) {
        for (int in = 0; in < kIn; ++in) {
          values[k] += x[row * kIn + in] * rounded(w[int64(in) * kWIn + int64(o + k) * kWOut]);
        }
      }
      give(row, o, values);
    }
  }
}
template <int kIn, int kOut>
void dense_weights(int64 rows, const bf16* x, const bf16* slope, float* sums) {
  for (int k = 0; k < kIn * kOut; ++k) {
    float sum = 0;
    for (int64 row = 0; row < rows; ++row) {
      sum += x[row * kIn + k / kOut] * slope[row * kOut + k % kOut];
    }
    sums[k] = sum;
  }
}
#endif
