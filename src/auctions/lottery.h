#pragma once
#include "base/rng.h"

namespace agora::auctions {

// Draws who gets what, `won` (n, m) of 0 and 1, each cell with its probability in shares (n, m): no
// item twice, and nobody more than one. No row and no column of the shares adds up to more than 1.
void draw_matching(Rng& rng, int bidders, int items, const double* shares, double* won);

}  // namespace agora::auctions
