#include "compute/cpu/shared_steps.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"

namespace agora::compute::cpu {

template <typename Real>
SharedSteps<Real>::SharedSteps(const Plan& plan, const Phase& phase) {
  constexpr int64_t kPiece = 8;          // chunks of a group that one piece takes
  constexpr int64_t kWorthThreads = 16;  // chunks of a wave
  std::map<int32_t, size_t> ready;       // the wave after which a buffer is written
  std::vector<int64_t> chunks;
  for (const Step& step : phase.shared) {
    size_t wave = 0;
    // Pieces of one buffer (of a concatenation) are written one after another.
    for (const std::vector<View>* views : {&step.inputs, &step.outputs}) {
      for (const View& view : *views) {
        const auto written = ready.find(view.buffer);
        if (!view.uniform && written != ready.end()) wave = std::max(wave, written->second);
      }
    }
    for (const View& output : step.outputs) ready[output.buffer] = wave + 1;
    if (waves_.size() <= wave) {
      waves_.resize(wave + 1);
      chunks.resize(wave + 1);
    }
    std::vector<Piece>& pieces = waves_[wave].pieces;
    if (step.kind == StepKind::kElementwise) {
      groups_.push_back(std::make_unique<Group<Real>>(plan, step, 1));
      const int64_t count = groups_.back()->chunks();
      for (int64_t begin = 0; begin < count; begin += kPiece) {
        Piece piece;
        piece.group = groups_.back().get();
        piece.begin = begin;
        piece.end = std::min(count, begin + kPiece);
        pieces.push_back(piece);
      }
      chunks[wave] += count;
    } else {
      CHECK(step.kind == StepKind::kOperation, "a row step among the shared ones");
      operations_.push_back(make_operation<Real>(plan, step, 1));
      Piece piece;
      piece.operation = operations_.back().get();
      piece.node = step.node;
      piece.result = place_of(plan, step.outputs[0], 1);
      piece.count = step.outputs[0].dense() ? step.outputs[0].count() : 0;
      pieces.push_back(piece);
      chunks[wave] += (step.outputs[0].count() + kChunk - 1) / kChunk;
    }
  }
  for (size_t k = 0; k < waves_.size(); ++k) waves_[k].parallel = chunks[k] >= kWorthThreads;
}

template <typename Real>
void SharedSteps<Real>::run_piece(const Piece& piece, Context<Real> context) const {
  alignas(64) Real registers[kRegisters * kChunk];
  context.registers = registers;
  if (piece.group != nullptr) {
    piece.group->run(context, piece.begin, piece.end);
    return;
  }
  piece.operation->run(context);
  if (context.non_finite == nullptr || *context.non_finite >= 0) return;
  const Real* const values = context.at(piece.result);
  const bool finite =
      std::all_of(values, values + piece.count, [](Real value) { return std::isfinite(value); });
  if (!finite) *context.non_finite = piece.node;
}

template <typename Real>
void SharedSteps<Real>::run(Context<Real> context, ThreadPool& pool) const {
  for (const Wave& wave : waves_) {
    if (wave.parallel && context.non_finite == nullptr) {
      pool.run(static_cast<int64_t>(wave.pieces.size()),
               [&](int64_t k) { run_piece(wave.pieces[static_cast<size_t>(k)], context); });
    } else {
      for (const Piece& piece : wave.pieces) run_piece(piece, context);
    }
  }
}

template class SharedSteps<float>;
template class SharedSteps<double>;

}  // namespace agora::compute::cpu
