// Weights of a product lie as tensor cores take them: tiles of 16 outputs and 8 inputs, those of
// one row of tiles side by side; in a tile, the four numbers of each lane of a warp.
DEVICE int place_of_weight(int k, int o, int in) {
  const int tile = o / 16 * ((in + 7) / 8) + k / 8, lane = o % 8 * 4 + k % 4;
  return (tile * 32 + lane) * 4 + o % 16 / 8 + k % 8 / 4 * 2;
}
DEVICE int weight_input(int place, int in) {
  return place / 128 % ((in + 7) / 8) * 8 + place / 4 % 4 + place % 4 / 2 * 4;
}
DEVICE int weight_output(int place, int in) {
  return place / 128 / ((in + 7) / 8) * 16 + place / 16 % 8 + place % 2 * 8;
}
// What a product takes of a number: where products are short, 11 bits of it.
DEVICE Real as_factor(Real value) {
#ifndef AGORA_DOUBLE
  if (!kShort) return value;
#ifdef __CUDACC__
  return __uint_as_float((__float_as_uint(value) + 0x1000u) & 0xffffe000u);
#else
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x1000u) & 0xffffe000u;
  std::memcpy(&value, &bits, sizeof bits);
#endif
#endif
  return value;
}
// A weight as it lies there: where products are short, a number of 16 bits, of which 11 count.
#if defined(__CUDACC__) && defined(AGORA_SHORT)
using Weight = unsigned short;
DEVICE Weight as_weight(Real value) {
  Weight bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
DEVICE float from_weight(unsigned bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(Weight(bits)));
  return value;
}
DEVICE float4 four_weights(const Weight* w) {
  const uint2 bits = *reinterpret_cast<const uint2*>(w);
  return {from_weight(bits.x & 0xffffu), from_weight(bits.x >> 16), from_weight(bits.y & 0xffffu),
          from_weight(bits.y >> 16)};
}
#else
using Weight = Real;
DEVICE Weight as_weight(Real value) { return as_factor(value); }
#if defined(__CUDACC__) && !defined(AGORA_DOUBLE)
DEVICE float4 four_weights(const Weight* w) { return *reinterpret_cast<const float4*>(w); }
#endif
#endif

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
// Short products take one of 11 bits. Tensor cores do not look at bits beyond those.
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
    if (kShort) return set_factor(k, __uint_as_float(__float_as_uint(value) + 0x1000u));
    set_factor(k, value);
  }
  DEVICE void set_factor(int k, float value) {  // one that as_factor() gave
    high[k] = __float_as_uint(value);
    if (kShort) return;
    low[k] = __float_as_uint(value - __uint_as_float(high[k] & 0xffffe000u));
  }
};
using Left = Fragment<4>;   // 16 x 8
using Right = Fragment<2>;  // 8 x 8
struct Accumulator {        // 16 x 8; chains of sums, so that none waits for another
  float high[4] = {0, 0, 0, 0}, left[4] = {0, 0, 0, 0}, right[4] = {0, 0, 0, 0};
  DEVICE void add(const Left& a, const Right& b) {
    multiply_add(high, a.high, b.high);
    if (kShort) return;
    multiply_add(left, a.low, b.high);
    multiply_add(right, a.high, b.low);
  }
  DEVICE float at(int k) const { return kShort ? high[k] : high[k] + (left[k] + right[k]); }
};
template <int kTogether>
struct Tile {
  float at[kTogether][4];
};
template <int kTogether>
struct Columns {
  const float* at[kTogether];
};

// Outputs o and o + 8 of this lane's group for kTogether columns of its own; w is this lane's place
// in the first tile of their weights.
template <int kIn, int kStep, bool kFast, int kTogether>
PRODUCT Tile<kTogether> product_tile(Columns<kTogether> x, const Weight* w) {
  const int in_group = lane_index() % 4;
  __builtin_assume(__isGlobal(w));
  constexpr int kChains = kTogether == 1 ? (kShort ? 4 : 2) : kTogether == 2 && kShort ? 2 : 1;
  Accumulator sum[kTogether][kChains];
#pragma unroll(kIn <= 128 ? 16 : 4)
  for (int k = 0; k < kIn; k += 8) {
    const float4 weights = four_weights(w + k * 16);
    Left a;
    a.set_factor(0, weights.x);
    a.set_factor(1, weights.y);
    a.set_factor(2, weights.z);
    a.set_factor(3, weights.w);
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

// store(o, n, bias(o) + sum over k of w[k, o] column(n)[k], inside): outputs in the rows of tensor
// cores, columns in their columns. column(n) points to input 0, inputs are kStep features apart; w
// lie in tiles. What is not inside is not to be stored; it is there so that nobody branches.
template <int kTogether, int kIn, int kOut, int kColumns, int kStep, bool kFast, typename Column,
          typename Bias, typename Store>
DEVICE void matrix_product(int warp, const Column& column, const Weight* w, const Bias& bias,
                           const Store& store) {
  constexpr int kHigh = (kOut + 15) / 16, kWide = kColumns / 8;
  constexpr int kGroups = (kWide + kTogether - 1) / kTogether;
  const int group = lane_index() / 4, in_group = lane_index() % 4;
  ROLLED for (unsigned item = unsigned(warp); item < kHigh * kGroups; item += kWarps) {
    const int high = item % kHigh, first = item / kHigh * kTogether;
    Columns<kTogether> x;
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      const int tile = kWide % kTogether != 0 && first + c >= kWide ? kWide - 1 : first + c;
      x.at[c] = column(tile * 8 + group);
    }
    int row[2];
    bool inside[2];
    Real begin[2];  // fetched before the product, so that nothing waits for it later
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      row[u] = high * 16 + group + u * 8;
      inside[u] = kOut % 16 == 0 || row[u] < kOut;
      if (!inside[u]) row[u] = kOut - 1;
      begin[u] = bias(row[u]);
    }
    const Tile<kTogether> sum = product_tile<kIn, kStep, kFast, kTogether>(
        x, w + (high * ((kIn + 7) / 8) * 32 + lane_index()) * 4);
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      if (kWide % kTogether != 0 && first + c >= kWide) continue;
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int n = (first + c) * 8 + in_group * 2 + u % 2;
        store(row[u / 2], n, begin[u / 2] + sum.at[c][u], inside[u / 2]);
      }
    }
  }
}

// store(o, n, sum over k of w(k, o) x(k, n)).
template <int kTogether, int kIn, int kOut, int kColumns, typename X, typename W, typename Store>
DEVICE void product(int warp, const X& x, const W& w, const Store& store) {
  constexpr int kHigh = (kOut + 15) / 16, kWide = kColumns / 8;
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
          const bool inside =
              (kIn % 8 == 0 || k + u * 4 < kIn) && (kWide % kTogether == 0 || first + c < kWide);
          b.set(u, inside ? x(k + u * 4, (first + c) * 8 + group) : 0.0f);
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
        if (kOut % 16 == 0 || row < kOut) store(row, n, sum[c].at(u));
      }
    }
  }
}

// store(k, o, sum over n of x(k, n) y(o, n)) for the columns n of all positions.
template <int kTogether, int kIn, int kOut, int kPositions, typename X, typename Y, typename Store>
DEVICE void outer(int warp, const X& x, const Y& y, const Store& store) {
  constexpr int kHigh = (kIn + 15) / 16, kWide = (kOut + 7) / 8;
  constexpr int kGroups = (kWide + kTogether - 1) / kTogether;
  const int group = lane_index() / 4, in_group = lane_index() % 4;
  ROLLED for (int item = warp; item < kHigh * kGroups; item += kWarps) {
    const int i = item % kHigh * 16 + group, first = item / kHigh * kTogether;
    Accumulator sum[kTogether];
#pragma unroll 1
    for (int n = in_group; n < kPositions * kLanes; n += 8) {
      Left a;
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int row = i + u % 2 * 8;
        a.set(u, kIn % 16 == 0 || row < kIn ? x(row, n + u / 2 * 4) : 0.0f);
      }
#pragma unroll
      for (int c = 0; c < kTogether; ++c) {
        Right b;
#pragma unroll
        for (int u = 0; u < 2; ++u) {
          const int o = (first + c) * 8 + group;
          b.set(u, (kOut % 8 == 0 && kWide % kTogether == 0) || o < kOut ? y(o, n + u * 4) : 0.0f);
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

// The weight gradient of a product, into sums that lie side by side; positions are kXPosition and
// kYPosition features apart, features of one kXStep and kYStep. Rows 2t and 2t + 1 are columns t
// and t + 4 of tensor cores; tiles that reach beyond the matrix repeat its last row.
template <int kTogether, int kIn, int kOut, int kPositions, int kXPosition, int kXStep, bool kXFast,
          int kYPosition, int kYStep, bool kYFast>
PRODUCT void weight_gradient(int warp, const float* x, const float* dy, float* sums, int rows,
                             bool fresh) {
  constexpr int kHigh = (kIn + 15) / 16, kWide = (kOut + 7) / 8;
  constexpr int kGroups = (kWide + kTogether - 1) / kTogether;
  const int group = lane_index() / 4, row = lane_index() % 4 * 2;
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
    Accumulator sum[kTogether];
#pragma unroll 1
    for (int p = 0; p < kPositions; ++p) {
#pragma unroll
      for (int r = 0; r < kLanes; r += 8) {
        const float2 top = two(x0 + p * (kXPosition * kLanes) + r);
        const float2 bottom = two(x1 + p * (kXPosition * kLanes) + r);
        Left a;
        a.set(0, top.x);
        a.set(1, bottom.x);
        a.set(2, top.y);
        a.set(3, bottom.y);
#pragma unroll
        for (int c = 0; c < kTogether; ++c) {
          const float2 slope = two(y[c] + p * (kYPosition * kLanes) + r);
          Right b;
          b.set(0, r + row < rows ? slope.x : 0.0f);
          b.set(1, r + row + 1 < rows ? slope.y : 0.0f);
          sum[c].add(a, b);
        }
      }
    }
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      const int o = first + c * 8 + row;
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
      [&](int o, int n, Real sum) { store(o, n, bias(o) + sum, true); });
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
