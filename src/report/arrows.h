#pragma once
#include <vector>

#include "report/chart.h"

namespace agora::report {

// An arrow inside the unit square of a cell, y downwards; the tip is at (x1, y1).
struct Arrow {
  double x0, y0, x1, y1;
  double head;  // length of its head
};

// One arrow through the middle where a move is certain; otherwise arrows from the middle whose
// lengths are the probabilities.
std::vector<Arrow> arrows_at(const GridPicture& picture, int64_t cell);

}  // namespace agora::report
