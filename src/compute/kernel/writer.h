#pragma once
#include <map>
#include <string>

#include "compute/kernel/expressions.h"

namespace agora::compute::kernel {

// Writes steps as text. Row steps are in row_steps.cpp and products.cpp, shared ones in
// shared_steps.cpp, and what products need of shared tensors in weights.cpp.
class Writer {
 public:
  Writer(const Plan& plan, const SourceOptions& options);
  Source run();

 private:
  // Row steps: code that a block runs on its tile.
  void phase_rows(size_t phase);
  void row_list(const std::vector<Step>& steps);
  void row_step(const Step& step);
  void load(const Step& step);
  void copy_images(const Step& step);
  void store(const Step& step);
  void loop(const Step& step);
  void row_operation(const Step& step);
  void reduce(const Step& step);
  void softmax(const Step& step);
  void reflect(const Step& step);
  void sum_rows(const Step& step);
  void indexed(const Step& step);
  void matmul(const Step& step);
  void outer(const Step& step);
  void convolution(const Step& step);
  void conv_weight(const Step& step);
  void pool(const Step& step);

  // Shared steps: code that every block runs for itself, or that all blocks share.
  void phase_shared(size_t phase);
  void combine_sums(size_t phase, bool& grid);
  void shared_reduce(const Step& step, bool& grid);
  // The body of a step that computes element f of its result alone, and how many there are.
  struct Elements {
    int64_t count = 0;
    std::string body{};
  };
  Elements shared_elements(const Step& step);
  void write_distributed(const std::vector<Elements>& pieces);
  bool is_read_on(const Step& step) const;
  bool has_own_reader(int32_t buffer, const std::vector<Step>& steps) const;

  // A gradient by weights that whoever takes it sums over all rows, once they have left their
  // factors behind.
  struct Late {
    int64_t in = 0, out = 0, positions = 0;
    int64_t x = 0, dy = 0;  // where they lie among the tiled weights
    int64_t tiles() const { return (in + 15) / 16 * ((out + 31) / 32); }
  };
  bool is_late(const Step& step) const;
  bool has_late_reader(const Step& step) const;
  void leave_factors(const Step& step);
  void write_late(const std::vector<const Step*>& readers, bool first);
  int32_t late_input(const Step& step) const;
  int64_t late_rows() const { return (options_.rows + 31) / 32 * 32; }

  // Weights in the order of tensor cores.
  struct Tiled {
    View view{};
    int64_t place = 0, size = 0;
    int64_t phase = -1;        // after whose shared steps they are brought there; -1: at the start
    bool takes_turns = false;  // two places: for current and next values
  };
  void find_weights();
  bool is_updated_by_elements(int32_t variable) const;
  int64_t phase_that_computes(int32_t buffer) const;
  // Whether there are any; ends with a barrier of all blocks unless told otherwise.
  bool tile_weights(int64_t phase, bool barrier = true);
  std::string tiled(const View& w) const;  // a pointer to them
  const Tiled& tiles_of(const View& w) const;
  // Of the products of a wave: brought close while the wave before computes.
  void touch_weights(const std::vector<const Step*>& wave);
  // Puts the next value of element `f` of a variable where products look for it.
  std::string tile_next(const View& output, const std::string& f, const std::string& value);

  // A loop over `count` things by the threads of the block; threads beyond those that earlier
  // loops of the wave keep busy come first.
  void begin_threads(int64_t count);
  std::string free_warp(int64_t warps);
  // Whether the warps that free_warp() gives next hold nothing for the wave yet.
  bool can_hold(int64_t warps);
  // What a product's items need of weights, fetched before the barrier that the product waits for.
  void hold(int64_t in, int64_t out, const std::string& warp, int64_t items,
            const std::string& weights, const std::string& bias);
  // The instructions of a group for element `f`; of one that follows an operation, whose value is
  // v0, those after it. Results are stored where the condition holds.
  std::string group(const Step& step, const std::string& f, const std::string& condition = "");
  std::string padded(const Step& step, const std::string& f);      // element f of a pad
  std::string element_of(const Step& step, const std::string& f);  // of a step in another's body
  std::string checked(const std::string& value, int number) const;
  int number_of(int32_t node);
  std::string sum_place(const View& view, const std::string& offset) const;
  void give_sum(const View& view, const std::string& offset, const std::string& value);
  void line(const std::string& text);
  std::string as_function(const std::string& text);

  const Plan& plan_;
  const SourceOptions& options_;
  Memory memory_;
  Source source_;
  std::multimap<int32_t, const Step*> readers_;  // of buffers
  std::vector<int64_t> sums_at_;            // per phase: where its sums start among a block's own
  std::map<int32_t, int64_t> inline_sums_;  // buffers that their reader adds up: place of the sums
  std::vector<Tiled> tiled_;
  std::map<int32_t, Late> late_;  // by their buffers
  size_t products_ = 0;           // of rows
  bool is_short_ = false;         // products
  bool inlined_ = false;          // functions
  bool holds_weights_ = false;    // in loops
  bool shares_products_ = false;  // code of those whose results are stored as they are
  bool in_loop_ = false;
  std::string holds_;       // of the wave that is being written
  int64_t held_steps_ = 0;  // of eight inputs, at most
  int64_t first_held_ = 0;  // where their threads begin among the busy ones
  size_t phase_ = 0;
  std::string functions_;  // the row steps
  int parts_ = 0;          // of them
  int64_t busy_ = 0;       // threads that loops of the wave keep busy
};

}  // namespace agora::compute::kernel
