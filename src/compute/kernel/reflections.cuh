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
