// Weights of a product lie as tensor cores take them: tiles of 16 outputs and kTileInputs inputs,
// those of one row of tiles side by side; in a tile, the numbers of each lane of a warp, for inputs
// lane % 4, 4 and, where products are short, 8 and 12 further.
constexpr int kTileInputs = kShort ? 16 : 8, kLaneWeights = kTileInputs / 2;
DEVICE int weight_tiles(int in) { return (in + kTileInputs - 1) / kTileInputs; }
DEVICE int place_of_weight(int k, int o, int in) {
  const int tile = o / 16 * weight_tiles(in) + k / kTileInputs, lane = o % 8 * 4 + k % 4;
  const int own = kShort ? k % 16 / 8 * 4 + o % 16 / 8 * 2 + k % 8 / 4 : o % 16 / 8 + k % 8 / 4 * 2;
  return (tile * 32 + lane) * kLaneWeights + own;
}
DEVICE int weight_input(int place, int in) {
  const int first = place / (32 * kLaneWeights) % weight_tiles(in) * kTileInputs;
  return first + place / kLaneWeights % 4 +
         (kShort ? place % 8 / 4 * 8 + place % 2 * 4 : place % 4 / 2 * 4);
}
DEVICE int weight_output(int place, int in) {
  return place / (32 * kLaneWeights) / weight_tiles(in) * 16 + place / (4 * kLaneWeights) % 8 +
         (kShort ? place % 4 / 2 : place % 2) * 8;
}
// What a product takes of a number: where products are short, what 16 bits hold of it: 11 of its
// own, numbers of at most 65,504, and nothing below 2^-24.
DEVICE Real as_factor(Real value) {
#ifndef __CUDACC__
  if (kShort) {
    int exponent;
    std::frexp(value, &exponent);
    const Real unit = std::ldexp(Real(1), (exponent < -13 ? -13 : exponent) - 11);
    value = std::nearbyint(value / unit) * unit;
    if (value > Real(65504)) return Real(65504);
    if (value < Real(-65504)) return Real(-65504);
  }
#endif
  return value;
}
// A weight as it lies there.
#if defined(__CUDACC__) && defined(AGORA_SHORT)
using Weight = unsigned short;
DEVICE Weight as_weight(Real value) {
  Weight bits;
  asm("cvt.rn.satfinite.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
#else
using Weight = Real;
DEVICE Weight as_weight(Real value) { return as_factor(value); }
#endif

// What a product starts from: a bias for every output, or nothing.
struct NoBias {};
DEVICE Real bias_at(NoBias, int) { return 0; }
DEVICE Real bias_at(const Real* bias, int o) { return bias[o]; }

// Products, thread by thread.
template <int kIn, int kOut, int kColumns, typename X, typename W, typename Store>
DEVICE void plain_product(int warp, const X& x, const W& w, const Store& store) {
  for (int i = warp * kWarp + lane_index(); i < kOut * kColumns; i += kThreads) {
    const int o = i / kColumns, n = i % kColumns;
    Real sum = 0;
    for (int k = 0; k < kIn; ++k) sum = fma(as_factor(w(k, o)), as_factor(x(k, n)), sum);
    store(o, n, sum);
  }
}
template <int kIn, int kOut, int kPositions, typename X, typename Y, typename Store>
DEVICE void plain_outer(int warp, const X& x, const Y& y, const Store& store) {
  for (int i = warp * kWarp + lane_index(); i < kIn * kOut; i += kThreads) {
    const int k = i / kOut, o = i % kOut;
    Real sum = 0;
    for (int n = 0; n < kPositions * kLanes; ++n)
      sum = fma(as_factor(x(k, n)), as_factor(y(o, n)), sum);
    store(k, o, sum);
  }
}

#if defined(__CUDACC__) && !defined(AGORA_DOUBLE)
// Float products on tensor cores: a number is the sum of two of 11 bits each, and of their four
// products the smallest is left out, so that results are as good as those of float arithmetic.
// Tensor cores do not look at bits beyond those.
DEVICE void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <int kCount>
struct Fragment {  // of a matrix, in this lane
  unsigned high[kCount], low[kCount];
  DEVICE void set(int k, float value) {
    high[k] = __float_as_uint(value);
    low[k] = __float_as_uint(value - __uint_as_float(high[k] & 0xffffe000u));
  }
};
using Left = Fragment<4>;   // 16 x 8
using Right = Fragment<2>;  // 8 x 8
struct Accumulator {        // 16 x 8; chains of sums, so that none waits for another
  float high[4] = {0, 0, 0, 0}, left[4] = {0, 0, 0, 0}, right[4] = {0, 0, 0, 0};
  DEVICE void add(const Left& a, const Right& b) {
    multiply_add(high, a.high, b.high);
    multiply_add(left, a.low, b.high);
    multiply_add(right, a.high, b.low);
  }
  DEVICE float at(int k) const { return high[k] + (left[k] + right[k]); }
};
// Short products: factors of 16 bits, two side by side; of 16 or 8 inputs.
DEVICE unsigned two_halves(float low, float high) {
  unsigned both;
  asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
DEVICE void multiply_add(float (&sum)[4], const uint4& a, unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}
DEVICE void multiply_add(float (&sum)[4], unsigned a0, unsigned a1, unsigned b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(b));
}
template <int kTogether>
struct Tile {
  float at[kTogether][4];
};
template <int kTogether>
struct Columns {
  const float* at[kTogether];
};

// Outputs o and o + 8 of this lane's group for kTogether columns of its own; weights_at(k) are this
// lane's of the tile of inputs from k on.
#ifdef AGORA_SHORT
template <int kIn, int kStep, bool kFast, int kTogether, typename WeightsAt>
DEVICE Tile<kTogether> product_with(const Columns<kTogether>& x, const WeightsAt& weights_at) {
  const int in_group = lane_index() % 4;
  constexpr int kChains = kTogether == 1 ? 4 : kTogether == 2 ? 2 : 1;
  float sum[kTogether][kChains][4] = {};
#pragma unroll(kIn <= 128 ? 8 : 2)
  for (int k = 0; k < kIn; k += 16) {
    const uint4 a = weights_at(k);
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      if (kFast) __builtin_assume(__isShared(x.at[c]));
      float b[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int input = k + u * 4 + in_group;
        const bool inside = kIn % 16 == 0 || k + u * 4 + 4 <= kIn || input < kIn;
        b[u] = k + u * 4 < kIn ? x.at[c][(inside ? input : 0) * (kStep * kLanes)] : 0.0f;
        if (!inside) b[u] = 0.0f;
      }
      multiply_add(sum[c][k / 16 % kChains], a, two_halves(b[0], b[1]), two_halves(b[2], b[3]));
    }
  }
  Tile<kTogether> tile;
#pragma unroll
  for (int c = 0; c < kTogether; ++c) {
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      tile.at[c][u] = sum[c][0][u];
#pragma unroll
      for (int chain = 1; chain < kChains && chain * 16 < kIn; ++chain) {
        tile.at[c][u] += sum[c][chain][u];
      }
    }
  }
  return tile;
}
DEVICE uint4 lane_weights(const Weight* w) { return *reinterpret_cast<const uint4*>(w); }
#else
template <int kIn, int kStep, bool kFast, int kTogether, typename WeightsAt>
DEVICE Tile<kTogether> product_with(const Columns<kTogether>& x, const WeightsAt& weights_at) {
  const int in_group = lane_index() % 4;
  constexpr int kChains = kTogether == 1 ? 2 : 1;
  Accumulator sum[kTogether][kChains];
#pragma unroll(kIn <= 128 ? 16 : 4)
  for (int k = 0; k < kIn; k += 8) {
    const float4 weights = weights_at(k);
    Left a;
    a.set(0, weights.x);
    a.set(1, weights.y);
    a.set(2, weights.z);
    a.set(3, weights.w);
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      if (kFast) __builtin_assume(__isShared(x.at[c]));
      Right b;
#pragma unroll
      for (int u = 0; u < 2; ++u) {
        const bool inside = kIn % 8 == 0 || k + 8 <= kIn || k + u * 4 + in_group < kIn;
        const float value = x.at[c][(inside ? k + u * 4 + in_group : 0) * (kStep * kLanes)];
        b.set(u, inside ? value : 0.0f);
      }
      sum[c][k / 8 % kChains].add(a, b);
    }
  }
  Tile<kTogether> tile;
#pragma unroll
  for (int c = 0; c < kTogether; ++c) {
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      tile.at[c][u] = sum[c][0].at(u);
#pragma unroll
      for (int chain = 1; chain < kChains; ++chain) tile.at[c][u] += sum[c][chain].at(u);
    }
  }
  return tile;
}
DEVICE float4 lane_weights(const Weight* w) { return *reinterpret_cast<const float4*>(w); }
#endif
// w is this lane's place in the first tile of weights.
template <int kIn, int kStep, bool kFast, int kTogether>
PRODUCT Tile<kTogether> product_tile(Columns<kTogether> x, const Weight* w) {
  __builtin_assume(__isGlobal(w));
  return product_with<kIn, kStep, kFast, kTogether>(
      x, [&](int k) { return lane_weights(w + k * 16); });
}

// One item of a product, outputs in the rows of tensor cores and columns in their columns: tile(x)
// gives the sums of this lane, begin() what its outputs start from.
template <int kTogether, int kOut, int kColumns, typename Column, typename Begin, typename Sums,
          typename Store>
DEVICE void product_item(unsigned item, const Column& column, const Begin& begin, const Sums& sums,
                         const Store& store) {
  constexpr int kHigh = (kOut + 15) / 16, kWide = (kColumns + 7) / 8;
  const int group = lane_index() / 4, in_group = lane_index() % 4;
  const int high = item % kHigh, first = item / kHigh * kTogether;
  Columns<kTogether> x;
#pragma unroll
  for (int c = 0; c < kTogether; ++c) {
    const int tile = kWide % kTogether != 0 && first + c >= kWide ? kWide - 1 : first + c;
    const int n = tile * 8 + group;
    x.at[c] = column(kColumns % 8 != 0 && n >= kColumns ? kColumns - 1 : n);
  }
  int row[2];
  bool inside[2];
  Real start[2];  // fetched before the product, so that nothing waits for it later
#pragma unroll
  for (int u = 0; u < 2; ++u) {
    row[u] = high * 16 + group + u * 8;
    inside[u] = kOut % 16 == 0 || row[u] < kOut;
    if (!inside[u]) row[u] = kOut - 1;
    start[u] = begin(u, row[u]);
  }
  const Tile<kTogether> sum = sums(x, high);
#pragma unroll
  for (int c = 0; c < kTogether; ++c) {
    if (kWide % kTogether != 0 && first + c >= kWide) continue;
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int n = (first + c) * 8 + in_group * 2 + u % 2;
      const bool beyond = kColumns % 8 != 0 && n >= kColumns;
      store(row[u / 2], beyond ? kColumns - 1 : n, start[u / 2] + sum.at[c][u],
            inside[u / 2] && !beyond);
    }
  }
}

// store(o, n, bias[o] + sum over k of w[k, o] column(n)[k], inside): column(n) points to input 0,
// inputs are kStep features apart; w lie in tiles. What is not inside is not to be stored; it is
// there so that nobody branches.
template <int kTogether, int kIn, int kOut, int kColumns, int kStep, bool kFast, typename Column,
          typename Bias, typename Store>
DEVICE void matrix_product(int warp, const Column& column, const Weight* w, const Bias& bias,
                           const Store& store) {
  constexpr int kHigh = (kOut + 15) / 16, kWide = (kColumns + 7) / 8;
  constexpr int kGroups = (kWide + kTogether - 1) / kTogether;
  ROLLED for (unsigned item = unsigned(warp); item < kHigh * kGroups; item += kWarps) {
    product_item<kTogether, kOut, kColumns>(
        item, column, [&](int, int row) { return bias_at(bias, row); },
        [&](const Columns<kTogether>& x, int high) {
          return product_tile<kIn, kStep, kFast, kTogether>(
              x, w + (high * weight_tiles(kIn) * 32 + lane_index()) * kLaneWeights);
        },
        store);
  }
}

#ifdef AGORA_SHORT
// Where the weights and biases of one item of a product are.
struct Item {
  const uint4* weights;
  const float* bias[2];
  int steps;
};
DEVICE const float* bias_place(const float* bias, int o, const void*) { return bias + o; }
DEVICE const float* bias_place(NoBias, int, const void* any) {
  return static_cast<const float*>(any);
}
DEVICE float held_bias(const float*, float held) { return held; }
DEVICE float held_bias(NoBias, float) { return 0; }
template <int kIn, int kOut, typename Bias>
DEVICE Item item_of(int warp, const Weight* w, const Bias& bias) {
  constexpr int kHigh = (kOut + 15) / 16, kSteps = (kIn + 15) / 16;
  int lane = lane_index();
  asm volatile("" : "+r"(lane));  // addresses are computed here, not kept from round to round
  const int high = warp % kHigh, row = high * 16 + lane / 4;
  Item item{reinterpret_cast<const uint4*>(w) + high * kSteps * 32 + lane, {}, kSteps};
#pragma unroll
  for (int u = 0; u < 2; ++u) {
    const bool inside = kOut % 16 == 0 || row + u * 8 < kOut;
    item.bias[u] = bias_place(bias, inside ? row + u * 8 : kOut - 1, item.weights);
  }
  return item;
}
// They are on their way to the item's warp before the barrier that the product waits for. Every
// warp fetches something, so that none keeps what it had before.
struct Held {
  uint4 weights[8];
  float bias[2];
  template <int kSteps>
  DEVICE void fetch(const Item& item) {
    __builtin_assume(__isGlobal(item.weights));
#pragma unroll
    for (int k = 0; k < kSteps; ++k) weights[k] = item.weights[k < item.steps ? k * 32 : 0];
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      __builtin_assume(__isGlobal(item.bias[u]));
      bias[u] = *item.bias[u];
    }
  }
};
// As matrix_product(), of items whose warps hold what they need.
template <int kTogether, int kIn, int kOut, int kColumns, int kStep, bool kFast, typename Column,
          typename Bias, typename Store>
DEVICE void held_product(const Held& held, int warp, const Column& column, const Weight*,
                         const Bias& bias, const Store& store) {
  constexpr int kHigh = (kOut + 15) / 16, kWide = (kColumns + 7) / 8;
  constexpr int kGroups = (kWide + kTogether - 1) / kTogether;
  if (warp >= kHigh * kGroups) return;
  product_item<kTogether, kOut, kColumns>(
      unsigned(warp), column, [&](int u, int) { return held_bias(bias, held.bias[u]); },
      [&](const Columns<kTogether>& x, int) {
        return product_with<kIn, kStep, kFast, kTogether>(
            x, [&](int k) { return held.weights[k / 16]; });
      },
      store);
}
#endif

// store(o, n, sum over k of w(k, o) x(k, n)).
template <int kTogether, int kIn, int kOut, int kColumns, typename X, typename W, typename Store>
DEVICE void product(int warp, const X& x, const W& w, const Store& store) {
  constexpr int kHigh = (kOut + 15) / 16, kWide = (kColumns + 7) / 8;
  constexpr int kGroups = (kWide + kTogether - 1) / kTogether;
  const int group = lane_index() / 4, in_group = lane_index() % 4;
  ROLLED for (int item = warp; item < kHigh * kGroups; item += kWarps) {
    const int o = item % kHigh * 16 + group, first = item / kHigh * kTogether;
    Accumulator sum[kTogether];
#pragma unroll 2
    for (int k = in_group; k < kIn + in_group; k += 8) {
      Left a;
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int row = o + u % 2 * 8, column = k + u / 2 * 4;
        const bool inside = (kOut % 16 == 0 || row < kOut) && (kIn % 8 == 0 || column < kIn);
        a.set(u, inside ? w(column, row) : 0.0f);
      }
#pragma unroll
      for (int c = 0; c < kTogether; ++c) {
        Right b;
#pragma unroll
        for (int u = 0; u < 2; ++u) {
          const int n = (first + c) * 8 + group;
          const bool inside = (kIn % 8 == 0 || k + u * 4 < kIn) && n < kColumns;
          b.set(u, inside ? x(k + u * 4, n) : 0.0f);
        }
        sum[c].add(a, b);
      }
    }
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      if (kWide % kTogether != 0 && first + c >= kWide) continue;
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int row = o + u / 2 * 8, n = (first + c) * 8 + in_group * 2 + u % 2;
        if ((kOut % 16 == 0 || row < kOut) && n < kColumns) store(row, n, sum[c].at(u));
      }
    }
  }
}

// store(k, o, sum over n of x(k, n) y(o, n)) for the columns n of all positions.
template <int kTogether, int kIn, int kOut, int kPositions, typename X, typename Y, typename Store>
DEVICE void outer(int warp, const X& x, const Y& y, const Store& store) {
  constexpr int kHigh = (kIn + 15) / 16, kWide = (kOut + 7) / 8, kAll = kPositions * kLanes;
  constexpr int kGroups = (kWide + kTogether - 1) / kTogether;
  const int group = lane_index() / 4, in_group = lane_index() % 4;
  ROLLED for (int item = warp; item < kHigh * kGroups; item += kWarps) {
    const int i = item % kHigh * 16 + group, first = item / kHigh * kTogether;
    Accumulator sum[kTogether];
#pragma unroll 1
    for (int n = in_group; n < kAll; n += 8) {
      const auto inside = [&](int column) { return kAll % 8 == 0 || column < kAll; };
      Left a;
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int row = i + u % 2 * 8, column = n + u / 2 * 4;
        a.set(u, (kIn % 16 == 0 || row < kIn) && inside(column) ? x(row, column) : 0.0f);
      }
#pragma unroll
      for (int c = 0; c < kTogether; ++c) {
        Right b;
#pragma unroll
        for (int u = 0; u < 2; ++u) {
          const int o = (first + c) * 8 + group;
          const bool known = (kOut % 8 == 0 && kWide % kTogether == 0) || o < kOut;
          b.set(u, known && inside(n + u * 4) ? y(o, n + u * 4) : 0.0f);
        }
        sum[c].add(a, b);
      }
    }
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int row = i + u / 2 * 8, o = (first + c) * 8 + in_group * 2 + u % 2;
        if (row < kIn && o < kOut) store(row, o, sum[c].at(u));
      }
    }
  }
}

// Sums over rows 2t and 2t + 1, which are columns t and t + 4 of tensor cores.
#ifdef AGORA_SHORT
struct GradientSum {
  float sum[4] = {0, 0, 0, 0};
  DEVICE void add(float2 top, float2 bottom, float2 slope) {
    multiply_add(sum, two_halves(top.x, top.y), two_halves(bottom.x, bottom.y),
                 two_halves(slope.x, slope.y));
  }
  DEVICE float at(int k) const { return sum[k]; }
};
#else
struct GradientSum {
  Accumulator sum;
  DEVICE void add(float2 top, float2 bottom, float2 slope) {
    Left a;
    a.set(0, top.x);
    a.set(1, bottom.x);
    a.set(2, top.y);
    a.set(3, bottom.y);
    Right b;
    b.set(0, slope.x);
    b.set(1, slope.y);
    sum.add(a, b);
  }
  DEVICE float at(int k) const { return sum.at(k); }
};
#endif
// The weight gradient of a product, into sums that lie side by side; positions are kXPosition and
// kYPosition features apart, features of one kXStep and kYStep. Columns of tensor cores are rows of
// two positions where a tile has four; tiles that reach beyond the matrix repeat its last row.
template <int kTogether, int kIn, int kOut, int kPositions, int kXPosition, int kXStep, bool kXFast,
          int kYPosition, int kYStep, bool kYFast>
PRODUCT void weight_gradient(int warp, const float* x, const float* dy, float* sums, int rows,
                             bool fresh) {
  constexpr int kHigh = (kIn + 15) / 16, kWide = (kOut + 7) / 8;
  constexpr int kGroups = (kWide + kTogether - 1) / kTogether;
  constexpr int kApart = kLanes < 8 ? 8 / kLanes : 1;  // positions at once
  const int group = lane_index() / 4, in_group = lane_index() % 4 * 2;
  const int row = kApart == 1 ? in_group : in_group % kLanes;
  const auto at_most = [](int k, int last) { return k < last ? k : last; };
  const auto two = [](const float* at) { return *reinterpret_cast<const float2*>(at); };
  if (kXFast) __builtin_assume(__isShared(x));
  if (kYFast) __builtin_assume(__isShared(dy));
  ROLLED for (unsigned item = unsigned(warp); item < kHigh * kGroups; item += kWarps) {
    const int i = item % kHigh * 16 + group, first = item / kHigh * kTogether * 8;
    const float* const x0 = x + at_most(i, kIn - 1) * (kXStep * kLanes) + row;
    const float* const x1 = x + at_most(i + 8, kIn - 1) * (kXStep * kLanes) + row;
    const float* y[kTogether];
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      y[c] = dy + at_most(first + c * 8 + group, kOut - 1) * (kYStep * kLanes) + row;
    }
    GradientSum sum[kTogether];
#pragma unroll 1
    for (int first_position = 0; first_position < kPositions; first_position += kApart) {
      const int own = kApart == 1 ? first_position : first_position + in_group / kLanes;
      const bool known = kPositions % kApart == 0 || own < kPositions;
      const int p = known ? own : kPositions - 1;
#pragma unroll
      for (int r = 0; r < kLanes; r += 8) {
        const float2 top = two(x0 + p * (kXPosition * kLanes) + r);
        const float2 bottom = two(x1 + p * (kXPosition * kLanes) + r);
#pragma unroll
        for (int c = 0; c < kTogether; ++c) {
          float2 slope = two(y[c] + p * (kYPosition * kLanes) + r);
          if (!known || r + row >= rows) slope.x = 0.0f;
          if (!known || r + row + 1 >= rows) slope.y = 0.0f;
          sum[c].add(top, bottom, slope);
        }
      }
    }
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      const int o = first + c * 8 + in_group;
#pragma unroll
      for (int u = 0; u < 4; u += 2) {
        if (i + u * 4 >= kIn || o >= kOut) continue;
        float* const to = sums + (i + u * 4) * kOut + o;
        if (kOut % 2 == 0) {
          float2 value{sum[c].at(u), sum[c].at(u + 1)};
          float2& both = *reinterpret_cast<float2*>(to);
          if (!fresh) value = {both.x + value.x, both.y + value.y};
          both = value;
        } else {
          to[0] = fresh ? sum[c].at(u) : to[0] + sum[c].at(u);
          if (o + 1 < kOut) to[1] = fresh ? sum[c].at(u + 1) : to[1] + sum[c].at(u + 1);
        }
      }
    }
  }
}
#else
template <int, int kIn, int kOut, int kColumns, typename X, typename W, typename Store>
DEVICE void product(int warp, const X& x, const W& w, const Store& store) {
  plain_product<kIn, kOut, kColumns>(warp, x, w, store);
}
template <int, int kIn, int kOut, int kColumns, int kStep, bool kFast, typename Column,
          typename Bias, typename Store>
DEVICE void matrix_product(int warp, const Column& column, const Weight* w, const Bias& bias,
                           const Store& store) {
  plain_product<kIn, kOut, kColumns>(
      warp, [&](int k, int n) { return column(n)[k * kStep * kLanes]; },
      [&](int k, int o) { return w[place_of_weight(k, o, kIn)]; },
      [&](int o, int n, Real sum) { store(o, n, bias_at(bias, o) + sum, true); });
}
struct Item {};
template <int, int, typename Bias>
DEVICE Item item_of(int, const Weight*, const Bias&) {
  return {};
}
struct Held {
  template <int>
  DEVICE void fetch(const Item&) {}
};
template <int kTogether, int kIn, int kOut, int kColumns, int kStep, bool kFast, typename Column,
          typename Bias, typename Store>
DEVICE void held_product(const Held&, int warp, const Column& column, const Weight* w,
                         const Bias& bias, const Store& store) {
  matrix_product<kTogether, kIn, kOut, kColumns, kStep, kFast>(warp, column, w, bias, store);
}
template <int, int kIn, int kOut, int kPositions, typename X, typename Y, typename Store>
DEVICE void outer(int warp, const X& x, const Y& y, const Store& store) {
  plain_outer<kIn, kOut, kPositions>(warp, x, y, store);
}
template <int, int kIn, int kOut, int kPositions, int kXPosition, int kXStep, bool kXFast,
          int kYPosition, int kYStep, bool kYFast>
DEVICE void weight_gradient(int warp, const Real* x, const Real* dy, Real* sums, int rows,
                            bool fresh) {
  plain_outer<kIn, kOut, kPositions>(
      warp,
      [&](int k, int n) { return x[(n / kLanes * kXPosition + k * kXStep) * kLanes + n % kLanes]; },
      [&](int o, int n) {
        return n % kLanes < rows ? dy[(n / kLanes * kYPosition + o * kYStep) * kLanes + n % kLanes]
                                 : Real(0);
      },
      [&](int k, int o, Real value) {
        Real& to = sums[k * kOut + o];
        to = fresh ? value : to + value;
      });
}
#endif

// A product whose results are stored as they are, as a function that steps of one shape share.
// Position p is p / kInner and p % kInner along two axes.
template <int kTogether, int kIn, int kOut, int kColumns, int kStep, bool kFast, int kInner,
          int kXOuter, int kXInner, int kYOuter, int kYInner, int kYStep, typename Bias>
PRODUCT void shared_product(int warp, const Real* x, const Weight* w, Bias bias, Real* y) {
  matrix_product<kTogether, kIn, kOut, kColumns, kStep, kFast>(
      warp,
      [&](unsigned n) {
        const unsigned p = n / kLanes;
        return x + (p / kInner * kXOuter + p % kInner * kXInner) * kLanes + n % kLanes;
      },
      w, bias,
      [&](unsigned o, unsigned n, Real v0, bool inside) {
        const unsigned p = n / kLanes;
        Real* const at =
            y + (p / kInner * kYOuter + p % kInner * kYInner + o * kYStep) * kLanes + n % kLanes;
        const Real v = settled(v0);
        if (inside) *at = v;
      });
}
