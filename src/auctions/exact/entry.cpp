#include "auctions/exact/entry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "auctions/lanes.h"
#include "base/error.h"
#include "base/signals.h"

namespace agora::auctions {
namespace {

constexpr size_t kFew = 8;  // sets of so many are tried sooner than bounded

// The sum of term(j) over so many j, in four parts: one after the other they would wait.
template <typename Term>
double sum_of(int count, const Term& term) {
  double parts[kFour] = {};
  in_fours(count, [&]<typename Real>(int64_t j) {
    store(parts, load<Real>(parts) + term.template operator()<Real>(j));
  });
  return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

}  // namespace

EntrySearch::EntrySearch(int bidders, int items)
    : bidders_(bidders),
      items_(items),
      held_((int64_t{bidders} + 1) * items),
      open_(int64_t{bidders} + 1),
      left_(bidders),
      most_(items),
      next_(items),
      first_(items),
      second_(items) {}

double EntrySearch::best(const double* worths, const double* fees) {
  worths_ = worths;
  fees_ = fees;
  begin();
  return go_on(kNobody);
}

double EntrySearch::best_without(int bidder) { return go_on(bidder); }

void EntrySearch::begin() {
  std::vector<int>& open = open_[0];
  open.clear();
  who_.clear();
  std::fill_n(held(0), items_, 0.0);
  for (int i = 0; i < bidders_; ++i) {
    if (added(i, held(0)) > fees_[i]) open.push_back(i);
  }
  read_ += int64_t{bidders_} * items_;
  double value = 0.0;
  enter_the_needed(0, value);
  needed_ = who_;
  others_ = open;
  std::fill(first_.begin(), first_.end(), 0.0);
  std::fill(second_.begin(), second_.end(), 0.0);
  for (const int i : needed_) {
    const double* worth = worth_to(i);
    for (int j = 0; j < items_; ++j) {
      second_[j] = std::max(second_[j], std::min(first_[j], worth[j]));
      first_[j] = std::max(first_[j], worth[j]);
    }
  }
}

double EntrySearch::go_on(int without) {
  who_ = needed_;
  open_[0] = others_;
  std::erase(open_[0], without);
  std::copy(first_.begin(), first_.end(), held(0));
  if (std::erase(who_, without) > 0) {
    const double* worth = worth_to(without);
    for (int j = 0; j < items_; ++j) {
      if (worth[j] == first_[j]) held(0)[j] = second_[j];
    }
  }
  // What the needed make is in no sum of the search: beside a worth so large all others would
  // vanish.
  double value = sum_of(items_, [&]<typename Real>(int64_t j) { return load<Real>(held(0) + j); });
  for (const int i : who_) value -= fees_[i];
  best_ = 0.0;
  best_who_ = who_;
  search(0, 0.0);
  return value + best_;
}

double EntrySearch::added(int bidder, const double* held) const {
  const double* worth = worth_to(bidder);
  return sum_of(items_, [&]<typename Real>(int64_t j) {
    return larger(Real{}, load<Real>(worth + j) - load<Real>(held + j));
  });
}

void EntrySearch::enter(int bidder, int depth, double& value) {
  const double* worth = worth_to(bidder);
  double* held = this->held(depth);
  value += added(bidder, held) - fees_[bidder];
  for (int j = 0; j < items_; ++j) held[j] = std::max(held[j], worth[j]);
  who_.push_back(bidder);
}

bool EntrySearch::enter_the_needed(int depth, double& value) {
  std::vector<int>& open = open_[depth];
  std::copy_n(held(depth), items_, most_.begin());
  std::copy_n(held(depth), items_, next_.begin());
  for (const int i : open) {
    const double* worth = worth_to(i);
    for (int j = 0; j < items_; ++j) {
      next_[j] = std::max(next_[j], std::min(most_[j], worth[j]));
      most_[j] = std::max(most_[j], worth[j]);
    }
  }
  for (const int i : open) {
    const double* worth = worth_to(i);
    left_[i] = fees_[i] - sum_of(items_, [&]<typename Real>(int64_t j) {
                 const Real most = load<Real>(&most_[j]);
                 return load<Real>(worth + j) == most ? most - load<Real>(&next_[j]) : Real{};
               });
  }
  const size_t before = open.size();
  std::erase_if(open, [&](int i) {
    if (left_[i] > 0.0) return false;
    enter(i, depth, value);
    return true;
  });
  return open.size() < before;
}

// Prices of the items, not below what is held, at which nobody is worth its fee: whoever enters
// then adds at most what the prices of its items are above what is held. They fall from the highest
// worth, item by item and level by level, as far as the fees allow.
double EntrySearch::added_at_most(int depth) {
  const std::vector<int>& open = open_[depth];
  const double* held = this->held(depth);
  for (const int i : open) left_[i] = fees_[i];
  for (bool falling = true; falling;) {
    falling = false;
    note_pass(open);
    for (int j = 0; j < items_; ++j) {
      double& price = most_[j];
      double level = held[j], room = price - held[j];
      for (const int i : open) {
        const double worth = worth_to(i)[j];
        if (worth >= price) {
          room = std::min(room, left_[i]);
        } else {
          level = std::max(level, worth);
        }
      }
      if (!(room > 0.0)) continue;
      const double fall = std::min(room, price - level);
      for (const int i : open) {
        if (worth_to(i)[j] >= price) left_[i] -= fall;
      }
      price = fall < room ? level : price - fall;
      falling = true;
    }
  }
  double sum = 0.0;
  for (int j = 0; j < items_; ++j) sum += most_[j] - held[j];
  return sum;
}

// Of those left from `from` on every set, but for who does not add its fee to the others of it.
void EntrySearch::try_all(int depth, const std::vector<int>& open, size_t from, double value) {
  if (value > best_) best_ = value, best_who_ = who_;
  read_ += static_cast<int64_t>(open.size() - from) * items_;
  for (size_t k = from; k < open.size(); ++k) {
    const double more = added(open[k], held(depth)) - fees_[open[k]];
    if (more <= 0.0) continue;
    const double *worth = worth_to(open[k]), *held = this->held(depth);
    double* const with = this->held(depth + 1);
    for (int j = 0; j < items_; ++j) with[j] = std::max(held[j], worth[j]);
    who_.push_back(open[k]);
    try_all(depth + 1, open, k + 1, value + more);
    who_.pop_back();
  }
}

void EntrySearch::search(int depth, double value) {
  std::vector<int>& open = open_[depth];
  const size_t entered_before = who_.size();
  while (read_ < most_read_) {
    note_pass(open);
    double sum = 0.0, most = 0.0;
    int next = kNobody;
    std::erase_if(open, [&](int i) {
      const double gain = added(i, held(depth)) - fees_[i];
      if (gain <= 0.0) return true;
      if (gain > most) most = gain, next = i;
      sum += gain;
      return false;
    });
    if (next == kNobody || value + sum <= best_) break;
    if (enter_the_needed(depth, value)) continue;
    if (open.size() <= kFew) {
      try_all(depth, open, 0, value);
      break;
    }
    const double at_most = value + added_at_most(depth);
    if (at_most <= best_) break;
    // Who enters although the prices leave some of its fee costs that much more.
    const auto useless = [&](int i) { return at_most - left_[i] <= best_; };
    if (std::erase_if(open, useless) > 0) continue;
    throw_if_stopped();
    // With it, one level deeper; then without it.
    const size_t entered = who_.size();
    double with = value;
    open.erase(std::find(open.begin(), open.end(), next));
    open_[depth + 1] = open;
    std::copy_n(held(depth), items_, held(depth + 1));
    enter(next, depth + 1, with);
    search(depth + 1, with);
    who_.resize(entered);
  }
  if (value > best_) best_ = value, best_who_ = who_;
  who_.resize(entered_before);
}

EntryFees::EntryFees(Parameters parameters) : parameters_(std::move(parameters)) {
  const int64_t n = bidders(), m = items();
  if (n > kMostBidders) {
    throw user_error("mechanism '{}': expected at most {} bidders, found {}", name(), kMostBidders,
                     n);
  }
  weights_ = tensor(parameters_, "weights", {n}).values;
  fees_ = tensor(parameters_, "fees", {n}).values;
  reserves_ = tensor(parameters_, "reserves", {n, m}).values;
  for (const std::vector<double>* each : {&fees_, &reserves_}) {
    if (std::none_of(each->begin(), each->end(), [](double x) { return x < 0.0; })) continue;
    throw user_error("mechanism '{}': fees and reserves must not be negative", name());
  }
  for (int64_t i = 0; i < n; ++i) {
    if (!(weights_[i] > 0.0)) throw user_error("mechanism '{}': weights must be positive", name());
    fees_[i] *= weights_[i];
    if (!std::isfinite(fees_[i])) {
      throw user_error("mechanism '{}': a fee times its weight is not finite", name());
    }
  }
}

void EntryFees::run(int64_t profiles, int n, int m, const double* bids, double* allocation,
                    double* payments) const {
  CHECK(accepts(n, m), "{} is {}x{}, the bids are {}x{}", name(), bidders(), items(), n, m);
  const int64_t size = int64_t{n} * m;
  std::fill(allocation, allocation + profiles * size, 0.0);
  std::fill(payments, payments + profiles * n, 0.0);
  EntrySearch entry(n, m);
  std::vector<double> worths(size);
  std::vector<double> asked(n), bid(n);  // of what a bidder wins: reserves and bids
  // Of an item: its winner, its worth to that one, and its worth without a bidder.
  std::vector<double> winner(m), worth(m), left(m);
  std::vector<int> who;
  for (int64_t k = 0; k < profiles; ++k, bids += size, allocation += size, payments += n) {
    throw_if_stopped();
    double all = 0.0;
    for (int64_t e = 0; e < size; ++e) {
      worths[e] = weights_[e / m] * (bids[e] - reserves_[e]);
      all += std::abs(worths[e]);
    }
    if (!std::isfinite(all)) {  // neither are sums
      std::fill_n(payments, n, std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    entry.best(worths.data(), fees_.data());
    who = entry.who();
    for (std::vector<double>* each : {&asked, &bid}) std::fill(each->begin(), each->end(), 0);
    for (int j = 0; j < m; ++j) {
      int i = EntrySearch::kNobody;
      double most = 0.0;
      for (const int each : who) {
        if (worths[each * m + j] > most) most = worths[each * m + j], i = each;
      }
      worth[j] = most;
      winner[j] = i;
      if (i == EntrySearch::kNobody) continue;
      allocation[i * m + j] = 1.0;
      asked[i] += reserves_[i * m + j];
      bid[i] += bids[i * m + j];
    }
    for (const int i : who) {
      // Its own bids are in no sum, and of the others' only where they would have something else:
      // one so large that others vanish beside it pays the same, and so do those others.
      entry.best_without(i);
      std::fill(left.begin(), left.end(), 0.0);
      double lost = 0.0;
      for (const int other : entry.who()) {
        const double* theirs = worths.data() + int64_t{other} * m;
        in_fours(m, [&]<typename Real>(int64_t j) {
          store(&left[j], larger(load<Real>(&left[j]), load<Real>(theirs + j)));
        });
        lost -= fees_[other];
      }
      for (const int other : who) {
        if (other != i) lost += fees_[other];
      }
      // An item that was its own is lost as a whole.
      lost += sum_of(m, [&]<typename Real>(int64_t j) {
        const Real without = load<Real>(&left[j]);
        return load<Real>(&winner[j]) == i + Real{} ? without : without - load<Real>(&worth[j]);
      });
      const double price = (fees_[i] + std::max(0.0, lost)) / weights_[i] + asked[i];
      payments[i] = std::min(price, bid[i]);  // rounding only
    }
  }
}

}  // namespace agora::auctions
