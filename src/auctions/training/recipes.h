#pragma once
#include <agora/auction_training.h>

// What the recipes of several kinds ask of a setting.
//
// Shipped recipes have in common: the rate falls and weights are averaged, so that the end is not a
// snapshot of a jumping target; lies are searched from several starts and the best is kept; the
// penalty rises in proportion to fewer iterations.
namespace agora::auctions {

bool has_size(const Setting& setting, int bidders, int items);

// The size of values: a penalty is per unit of money.
double unit_of_money(const Setting& setting);

// Where regret counts little at first, revenue rises beyond what can be kept, and a short training
// does not come back from there: all of its regret counts from the start.
Recipe without_detours(Recipe recipe);

// A recipe of so many iterations, with its schedules compressed or stretched.
Recipe with_iterations(Recipe recipe, int64_t iterations);

}  // namespace agora::auctions
