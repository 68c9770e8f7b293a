#include "auctions/exact/assignment.h"

#include <algorithm>
#include <limits>

namespace agora::auctions {

Assignment::Assignment(int bidders, int items)
    : bidders_(bidders),
      items_(items),
      rows_(std::min(bidders, items)),
      columns_(std::max(bidders, items)),
      row_price_(rows_ + 1),
      column_price_(columns_ + 1),
      slack_(columns_ + 1),
      row_of_(columns_ + 1),
      before_(columns_ + 1),
      item_(bidders),
      seen_(columns_ + 1) {}

double Assignment::cost(const double* weights, int without, int row, int column) const {
  const int bidder = bidders_ <= items_ ? row : column, item = bidders_ <= items_ ? column : row;
  return bidder == without ? 0.0 : -std::max(0.0, weights[bidder * items_ + item]);
}

// Shortest augmenting paths by reduced costs (Kuhn's Hungarian method): every row in turn finds
// a column, others moving where that is cheaper. Rows and columns count from 1, 0 is the free end.
double Assignment::solve(const double* weights, int without) {
  std::fill(row_price_.begin(), row_price_.end(), 0.0);
  std::fill(column_price_.begin(), column_price_.end(), 0.0);
  std::fill(row_of_.begin(), row_of_.end(), 0);
  for (int row = 1; row <= rows_; ++row) {
    std::fill(slack_.begin(), slack_.end(), std::numeric_limits<double>::infinity());
    std::fill(seen_.begin(), seen_.end(), 0);
    row_of_[0] = row;
    int at = 0;
    while (row_of_[at] != 0) {
      seen_[at] = 1;
      const int from = row_of_[at];
      int next = 0;
      double least = std::numeric_limits<double>::infinity();
      for (int column = 1; column <= columns_; ++column) {
        if (seen_[column]) continue;
        const double reduced =
            cost(weights, without, from - 1, column - 1) - row_price_[from] - column_price_[column];
        if (reduced < slack_[column]) slack_[column] = reduced, before_[column] = at;
        if (slack_[column] < least) least = slack_[column], next = column;
      }
      for (int column = 0; column <= columns_; ++column) {
        if (seen_[column]) {
          row_price_[row_of_[column]] += least;
          column_price_[column] -= least;
        } else {
          slack_[column] -= least;
        }
      }
      at = next;
    }
    for (; at != 0; at = before_[at]) row_of_[at] = row_of_[before_[at]];
  }
  std::fill(item_.begin(), item_.end(), -1);
  double sum = 0.0;
  for (int column = 1; column <= columns_; ++column) {
    if (row_of_[column] == 0) continue;
    const double gain = -cost(weights, without, row_of_[column] - 1, column - 1);
    if (!(gain > 0.0)) continue;
    sum += gain;
    const int row = row_of_[column] - 1, other = column - 1;
    item_[bidders_ <= items_ ? row : other] = bidders_ <= items_ ? other : row;
  }
  return sum;
}

}  // namespace agora::auctions
