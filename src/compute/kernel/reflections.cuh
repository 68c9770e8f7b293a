// Reflects cells 0, step, 2 step, ... (operations.h): exchanges the first unit vector and the
// direction of the mean.
template <int kSize, int kStep>
DEVICE void reflect_line(Real* cells) {
  if (kSize == 1) return;
  constexpr double kSizeReal = kSize;
  const Real root = Real(sqrt(kSizeReal)), scale = Real(1) / root,
             shift = Real(1) / (root - Real(1));
  Real sum = 0;
  UNROLL(8)
  for (int k = 0; k < kSize; ++k) sum += cells[k * kStep];
  const Real mean = sum * scale, moved = (cells[0] - mean) * shift;
  cells[0] = mean;
  UNROLL(8)
  for (int k = 1; k < kSize; ++k) cells[k * kStep] += moved;
}
template <int kRows, int kColumns>
DEVICE void reflect_cells(Real* cells) {
  UNROLL(8)
  for (int i = 0; i < kRows; ++i) reflect_line<kColumns, 1>(cells + i * kColumns);
  UNROLL(8)
  for (int j = 0; j < kColumns; ++j) reflect_line<kRows, kColumns>(cells + j);
}

// Reflects the cells at x, applies tanh or multiplies by the slope of the one that gave y, and
// reflects again; what comes before and after that is stored where it is asked for. Features are
// kStep numbers apart. Gives the first cell.
template <int kRows, int kColumns, int kStep, bool kTanh, bool kSlope, bool kFirst, bool kSecond>
PRODUCT Real reflect_step(const Real* x, const Real* y, Real* first, Real* second) {
  Real cells[kRows * kColumns];
  UNROLL(32)
  for (int k = 0; k < kRows * kColumns; ++k) cells[k] = x[k * kStep];
  reflect_cells<kRows, kColumns>(cells);
  UNROLL(32)
  for (int k = 0; k < kRows * kColumns; ++k) {
    if (kTanh) cells[k] = op_tanh(cells[k]);
    if (kSlope) cells[k] = fma(-(cells[k] * y[k * kStep]), y[k * kStep], cells[k]);
    if (kFirst) first[k * kStep] = cells[k];
  }
  if (kSecond) {
    reflect_cells<kRows, kColumns>(cells);
    UNROLL(32)
    for (int k = 0; k < kRows * kColumns; ++k) second[k * kStep] = cells[k];
  }
  return cells[0];
}
