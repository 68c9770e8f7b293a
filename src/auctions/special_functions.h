#pragma once

namespace agora::auctions {

double normal_density(double z);
double normal_cdf(double z);
double normal_quantile(double p);  // p in (0, 1); infinite at the ends
// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x);

}  // namespace agora::auctions
