#include "auctions/lottery.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace agora::auctions {
namespace {

constexpr double kRounding = 1e-12;

// Cells that are neither 0 nor 1 as edges between rows and columns.
class Open {
 public:
  Open(int n, int m, double* cells) : n_(n), m_(m), cells_(cells), place_(n + m) {
    for (int cell = 0; cell < n * m; ++cell) settle(cell);
  }

  // A cycle of open cells, or a path that cannot go on at either end; empty if there are none.
  const std::vector<int>& walk() {
    path_.clear();
    int node = -1;
    for (int each = 0; each < n_ + m_; ++each) {
      const int edges = degree(each);
      if (edges > 0 && (node < 0 || edges == 1)) node = each;
      if (edges == 1) break;
    }
    std::fill(place_.begin(), place_.end(), -1);
    while (node >= 0) {
      if (place_[node] >= 0) {  // been here: what came before is no part of the cycle
        path_.erase(path_.begin(), path_.begin() + place_[node]);
        break;
      }
      place_[node] = static_cast<int>(path_.size());
      const int cell = next(node, path_.empty() ? -1 : path_.back());
      if (cell < 0) break;
      path_.push_back(cell);
      node = node < n_ ? n_ + cell % m_ : cell / m_;
    }
    return path_;
  }

  void move(int cell, double by) {
    cells_[cell] += by;
    settle(cell);
  }

 private:
  bool open(int cell) const { return cells_[cell] > 0.0 && cells_[cell] < 1.0; }
  void settle(int cell) {
    if (cells_[cell] < kRounding) cells_[cell] = 0.0;
    if (cells_[cell] > 1.0 - kRounding) cells_[cell] = 1.0;
  }
  int next(int node, int not_this) const {
    const bool row = node < n_;
    for (int k = 0; k < (row ? m_ : n_); ++k) {
      const int cell = row ? node * m_ + k : k * m_ + node - n_;
      if (cell != not_this && open(cell)) return cell;
    }
    return -1;
  }
  int degree(int node) const {
    const int first = next(node, -1);
    return first < 0 ? 0 : next(node, first) < 0 ? 1 : 2;
  }

  int n_, m_;
  double* cells_;
  std::vector<int> path_, place_;
};

}  // namespace

// Dependent rounding (Gandhi, Khuller, Parthasarathy and Srinivasan): along a cycle or a path every
// other cell rises by as much as the others fall, one way or the other, so that one of them gets 0
// or 1 and all keep their means; sums of rows and columns change at the ends of a path only.
void draw_matching(Rng& rng, int n, int m, const double* shares, double* won) {
  std::copy(shares, shares + n * m, won);
  Open cells(n, m, won);
  for (int step = 0; !cells.walk().empty(); ++step) {
    CHECK(step <= n * m, "a lottery over {}x{} does not end", n, m);
    const std::vector<int> path = cells.walk();
    double up = 1.0, down = 1.0;
    for (size_t k = 0; k < path.size(); ++k) {
      const double share = won[path[k]];
      up = std::min(up, k % 2 == 0 ? 1.0 - share : share);
      down = std::min(down, k % 2 == 0 ? share : 1.0 - share);
    }
    const double by = rng.uniform() * (up + down) < down ? up : -down;
    for (size_t k = 0; k < path.size(); ++k) cells.move(path[k], k % 2 == 0 ? by : -by);
  }
}

}  // namespace agora::auctions
