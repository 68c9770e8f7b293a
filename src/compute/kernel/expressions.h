#pragma once
#include <string>

#include "compute/kernel/source.h"

// Pieces of the text of a kernel.
namespace agora::compute::kernel {

// The offset of element `i` of a strided tensor, i in row-major order of its shape.
std::string index_of(const Shape& shape, const std::vector<int64_t>& strides, const std::string& i);
std::string literal(double value);

class Memory {
 public:
  Memory(const Plan& plan, const SourceOptions& options) : plan_(plan), options_(options) {}

  int64_t fast_features() const;  // of a block's fast memory
  // In the memory of the block.
  bool is_fast(const View& view) const;
  // A pointer to where the view starts.
  std::string start(const View& view) const;
  // Its element at an offset in features (or elements of a shared one); `row` is the lane.
  std::string element(const View& view, const std::string& offset,
                      const std::string& row = "r") const;
  // Where the values of a variable are, and where the next ones go: runs in one start take turns.
  std::string variable(int32_t index, bool next) const;
  // Its element `i` in row-major order.
  std::string at(const View& view, const std::string& i, const std::string& row = "r") const;

 private:
  const Plan& plan_;
  const SourceOptions& options_;
};

const char* function_of(Op op);  // "op_tanh"; null for what is not elementwise

}  // namespace agora::compute::kernel
