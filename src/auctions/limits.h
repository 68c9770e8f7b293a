#pragma once
#include <string>
#include <string_view>

#include "auctions/mechanism.h"

// Unit demand and budgets, beside the values of a market.
namespace agora::auctions {

double budget_of(const Limits& limits, int bidder);  // infinite: none

// "additive" or "unit"; budgets "0.5" or "0.5,inf", empty: none. What is neither, or another number
// of budgets than 1 or `bidders`, is the user's mistake; `where` leads its line.
Limits limits_from(const std::string& where, std::string_view demand, std::string_view budgets,
                   int bidders);
std::string demand_text(const Limits& limits);
std::string budget_text(const Limits& limits);  // "" if there are none
// As it follows on a setting: "; demand unit; budget 0.5".
std::string limits_text(const Limits& limits);

// A mechanism of another size, demand or budget than the setting's is the user's mistake.
void check_fits(const Mechanism& mechanism, const Setting& setting);

// Outcomes (profiles, n, m) and (profiles, n) that give a bidder of unit demand more than one item
// or take more than a budget are the user's mistake: the mechanism is not for this setting.
void check_limits(const Mechanism& mechanism, const Setting& setting, int64_t profiles,
                  const double* allocation, const double* payments);

}  // namespace agora::auctions
