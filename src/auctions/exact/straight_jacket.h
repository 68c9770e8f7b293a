#pragma once
#include <vector>

namespace agora::auctions {

// Prices of 1, ..., m items in the straight-jacket auction (Giannakopoulos and Koutsoupias) of m
// items with independent values uniform on [0, 1].
std::vector<double> straight_jacket_prices(int items);

// The volume of {t >= 0 : any k coordinates sum to at most bounds[k-1]}, for concave `bounds`.
double symmetric_volume(const std::vector<double>& bounds);

}  // namespace agora::auctions
