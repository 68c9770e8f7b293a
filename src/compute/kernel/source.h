#pragma once
#include <string>
#include <vector>

#include "compute/device_array.h"
#include "compute/plan.h"

// A plan as the text of one kernel. A block takes a tile of rows through all row steps of a phase,
// with the tile in its fast memory; blocks meet at barriers between phases. Steps that do not
// depend on each other stand between the same two barriers of a block. The files
// *.cuh have what the text uses.
namespace agora::compute::kernel {

struct SourceOptions {
  Type type = Type::kFloat32;
  int64_t lanes = 8;          // rows of a tile: 4, or a multiple of 8
  int64_t threads = 512;      // of a block
  int64_t fast_features = 0;  // of the scratch, which fit in a block's fast memory
  bool keeps_fast = false;    // what is kept per row lies behind them: a block has one tile
  bool check = false;         // look for values that are not finite
  bool short_products = false;
  int64_t rows = 0;  // the most of a run
};

struct Source {
  std::string text;
  std::vector<int32_t> nodes{};  // by the numbers that faults have
  int64_t sums = 0;              // elements of a block's own sums over rows
  int64_t workspace_sets = 0;    // one element per block and set
  int64_t tiled = 0;             // elements of weights in the order of tensor cores
  // A plan with steps of images is run in pieces, which such steps follow, after one that brings
  // weights into their order; others have one piece.
  struct Piece {
    size_t phases = 0;  // up to this one
    bool empty = true;
  };
  std::vector<Piece> pieces{};
  int64_t distributed = 0;   // elements of the longest step that all blocks share
  bool has_indices = false;  // some index may be out of range
};

// The kernel `program` takes what its `struct Arguments` says, eight bytes each.
Source make_source(const Plan& plan, const SourceOptions& options);

}  // namespace agora::compute::kernel
