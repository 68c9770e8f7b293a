#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "compute/cpu/context.h"
#include "compute/cpu/kernels.h"

// Fused elementwise groups. A group walks its shape once, in chunks of about a thousand values;
// all its instructions run on a chunk before the next one, so intermediates stay in L1.
namespace agora::compute::cpu {

constexpr int64_t kChunk = 1024;    // values of a chunk
constexpr int64_t kRegisters = 48;  // chunks for intermediates: the most a group has

template <typename Real>
class Group {
 public:
  Group(const Plan& plan, const Step& step, int64_t lanes);
  // All of it, or the chunks [begin, end).
  void run(const Context<Real>& context) const { run(context, 0, chunks_); }
  void run(const Context<Real>& context, int64_t begin, int64_t end) const;
  int64_t chunks() const { return chunks_; }
  int64_t features() const { return features_; }              // of the innermost axis
  int64_t feature_chunks() const { return feature_chunks_; }  // of one run along it

 private:
  struct Operand {
    Place place{};
    bool uniform = false, splat = false;
    Real value = 0;
    int64_t feature_stride = 0;
    std::vector<int64_t> outer{};  // strides of the outer axes
  };
  struct Code {
    Elementwise<Real> function = nullptr;
    std::array<int32_t, 3> from{};  // operands: inputs, then outputs, then registers
    int32_t to = 0;
    bool flat = false;  // one run over the whole chunk
    int32_t node = -1;
  };

  std::vector<int64_t> outer_;  // sizes of the axes around features and lanes
  int64_t features_ = 1, lanes_ = 1;
  int64_t chunk_features_ = 1, chunk_lanes_ = 1;
  int64_t feature_chunks_ = 1, lane_chunks_ = 1, chunks_ = 1;
  std::vector<Operand> operands_;  // inputs, then outputs with memory
  struct Chunk {
    int64_t features, lanes;
  };
  void list_chunks();

  int64_t registers_ = 0;
  std::vector<Chunk> chunk_table_;
  std::vector<int64_t> offsets_;  // per chunk and operand
  std::vector<Code> code_;
};

}  // namespace agora::compute::cpu
