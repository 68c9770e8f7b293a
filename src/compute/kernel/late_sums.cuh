// A gradient by weights, summed over all rows: blocks leave the factors of their tiles behind,
// rows innermost, kRows for each position of a feature. Thing i is four rows of one.
template <int kFeatures, int kPositions, int kPosition, int kStep, int kRows>
DEVICE void leave_factors(unsigned i, const Real* from, Weight* to, int64 first_row, int rows) {
  constexpr unsigned kFours = kLanes / 4;
  const unsigned four = i % kFours * 4, f = i / kFours % kFeatures, p = i / kFours / kFeatures;
  const Real* const x = from + (p * kPosition + f * kStep) * kLanes + four;
  Weight* const at = to + (f * kPositions + p) * kRows + first_row + four;
#if defined(__CUDACC__) && defined(AGORA_SHORT)
  const float4 value = *reinterpret_cast<const float4*>(x);
  const int left = rows - int(four);
  *reinterpret_cast<uint2*>(at) =
      uint2{two_halves(left > 0 ? value.x : 0.0f, left > 1 ? value.y : 0.0f),
            two_halves(left > 2 ? value.z : 0.0f, left > 3 ? value.w : 0.0f)};
#else
  for (int r = 0; r < 4; ++r) at[r] = as_weight(int(four) + r < rows ? x[r] : Real(0));
#endif
}
// A tile of it, 16 inputs by 32 outputs, over the first `rows` rows: warps take rows in turn.
template <int kIn, int kOut, int kPositions, int kRows>
struct LateSums {
  static constexpr int kCount = 16 * 32, kHigh = (kIn + 15) / 16;
  int tile;
  const Weight *x, *dy;
  int rows;
  Real* warps;  // memory for the sums of each of them
  DEVICE int input(int e) const { return tile % kHigh * 16 + e / 32; }
  DEVICE int output(int e) const { return tile / kHigh * 32 + e % 32; }
#if defined(__CUDACC__) && defined(AGORA_SHORT)
  DEVICE void run() const {
    const int group = lane_index() / 4, in_group = lane_index() % 4;
    const auto place = [&](const Weight* from, int feature, int last) {
      return from + (feature < last ? feature : last) * (kPositions * kRows) + in_group * 4;
    };
    const Weight* const x0 = place(x, tile % kHigh * 16 + group, kIn - 1);
    const Weight* const x1 = place(x, tile % kHigh * 16 + group + 8, kIn - 1);
    const Weight* y[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) y[c] = place(dy, tile / kHigh * 32 + c * 8 + group, kOut - 1);
    float sum[4][4] = {};
    constexpr int kSteps = kPositions * kRows / 16;
#pragma unroll 2
    for (int step = warp_index(); step < kSteps; step += kWarps) {
      const bool known = step * 16 % kRows + in_group * 4 < rows;
      const auto four = [&](const Weight* from) {
        uint2 value{0, 0};
        if (known) value = *reinterpret_cast<const uint2*>(from + step * 16);
        return value;
      };
      const uint2 top = four(x0), bottom = four(x1);
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const uint2 slope = four(y[c]);
        multiply_add(sum[c], uint4{top.x, bottom.x, top.y, bottom.y}, slope.x, slope.y);
      }
    }
    float* const own = warps + warp_index() * kCount + group * 32 + in_group * 2;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      *reinterpret_cast<float2*>(own + c * 8) = {sum[c][0], sum[c][1]};
      *reinterpret_cast<float2*>(own + c * 8 + 8 * 32) = {sum[c][2], sum[c][3]};
    }
    block_barrier();
  }
  DEVICE Real at(int e) const {
    float total = 0;
#pragma unroll
    for (int k = 0; k < kWarps; ++k) total += warps[k * kCount + e];
    return total;
  }
#else
  DEVICE void run() const {}
  DEVICE Real at(int e) const {
    Real total = 0;
    for (int p = 0; p < kPositions; ++p) {
      for (int r = 0; r < rows && r < kRows; ++r) {
        total += Real(x[(input(e) * kPositions + p) * kRows + r]) *
                 Real(dy[(output(e) * kPositions + p) * kRows + r]);
      }
    }
    return total;
  }
#endif
};
