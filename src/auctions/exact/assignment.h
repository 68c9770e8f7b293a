#pragma once
#include <vector>

namespace agora::auctions {

// Bidders who want one item each: which one everybody gets, so that what they are worth to those
// who get them adds up to most. Keeps the memory it works in.
class Assignment {
 public:
  Assignment(int bidders, int items);
  // The most that weights (bidders, items) add up to; what is not positive is not given. One bidder
  // may be left out.
  double solve(const double* weights, int without = -1);
  int item(int bidder) const { return item_[bidder]; }  // -1: none

 private:
  double cost(const double* weights, int without, int row, int column) const;
  int bidders_, items_, rows_, columns_;  // rows are the fewer of both
  std::vector<double> row_price_, column_price_, slack_;
  std::vector<int> row_of_, before_, item_;
  std::vector<char> seen_;
};

}  // namespace agora::auctions
