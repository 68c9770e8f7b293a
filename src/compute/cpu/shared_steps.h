#pragma once
#include <memory>
#include <vector>

#include "base/thread_pool.h"
#include "compute/cpu/elementwise.h"
#include "compute/cpu/tile_steps.h"

namespace agora::compute::cpu {

// The shared steps of a phase: steps that do not depend on each other run side by side, long ones
// cut into pieces.
template <typename Real>
class SharedSteps {
 public:
  SharedSteps(const Plan& plan, const Phase& phase);
  void run(Context<Real> context, ThreadPool& pool) const;

 private:
  struct Piece {
    const Group<Real>* group = nullptr;
    const Runnable<Real>* operation = nullptr;
    int64_t begin = 0, end = 0;  // chunks of a group
    int32_t node = -1;
    Place result{};  // of an operation, for checking
    int64_t count = 0;
  };
  struct Wave {
    std::vector<Piece> pieces{};
    bool parallel = false;
  };
  void run_piece(const Piece& piece, Context<Real> context) const;

  std::vector<std::unique_ptr<Group<Real>>> groups_;
  std::vector<std::unique_ptr<Runnable<Real>>> operations_;
  std::vector<Wave> waves_;
};

}  // namespace agora::compute::cpu
