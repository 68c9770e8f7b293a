#include "auctions/profiles.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace agora::auctions {
namespace {

constexpr int kLargestSide = 1000;

// The bidder and item of a column b2i3, counted from 0.
std::optional<std::pair<int, int>> wide_column(std::string_view name) {
  int bidder = 0, item = 0;
  const char* end = name.data() + name.size();
  if (name.size() < 4 || name[0] != 'b') return std::nullopt;
  const auto first = std::from_chars(name.data() + 1, end, bidder);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'i') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, item);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  if (bidder < 1 || item < 1 || bidder > kLargestSide || item > kLargestSide) return std::nullopt;
  return std::pair{bidder - 1, item - 1};
}

}  // namespace

ProfileReader::ProfileReader(const std::filesystem::path& path)
    : file_(path.string()), reader_(path), long_form_(reader_.find("bidder").has_value()) {
  if (!long_form_) {
    read_wide_header();
    return;
  }
  columns_ = reader_.require({"profile", "bidder", "item", "value"});
  reader_.allow_only({"profile", "bidder", "item", "value"});
  has_pending_ = read_cell();
  if (!has_pending_) return;
  // The first profile tells how many bidders and items there are.
  line_ = pending_.line;
  profile_ = pending_profile_;
  do {
    cells_.push_back(pending_);
    has_pending_ = read_cell();
  } while (has_pending_ && pending_profile_ == profile_);
  for (const Cell& cell : cells_) {
    bidders_ = std::max(bidders_, cell.bidder + 1);
    items_ = std::max(items_, cell.item + 1);
  }
  first_ready_ = true;
}

void ProfileReader::read_wide_header() {
  std::vector<std::pair<int, int>> places;
  for (const std::string& column : reader_.columns()) {
    const auto place = wide_column(column);
    if (!place) {
      throw user_error(
          "{}:1: expected columns b1i1,b1i2,... or profile,bidder,item,value, found '{}'", file_,
          printable(column));
    }
    places.push_back(*place);
    bidders_ = std::max(bidders_, place->first + 1);
    items_ = std::max(items_, place->second + 1);
  }
  columns_.assign(static_cast<size_t>(bidders_) * items_, places.size());
  for (size_t c = 0; c < places.size(); ++c) {
    columns_[places[c].first * items_ + places[c].second] = c;
  }
  for (size_t place = 0; place < columns_.size(); ++place) {
    if (columns_[place] == places.size()) {
      throw user_error("{}:1: column 'b{}i{}' is missing: {} bidders and {} items need {} columns",
                       file_, place / items_ + 1, place % items_ + 1, bidders_, items_,
                       columns_.size());
    }
  }
}

double ProfileReader::value(size_t column) const {
  const double value = reader_.number(column);
  if (value < 0.0) throw reader_.expected(column, "a number of at least 0");
  return value;
}

bool ProfileReader::next(std::vector<double>& values) {
  if (!(long_form_ ? next_long(values) : next_wide(values))) return false;
  ++profiles_;
  if (!long_form_) profile_ = std::to_string(profiles_);
  return true;
}

bool ProfileReader::next_wide(std::vector<double>& values) {
  if (!reader_.next()) return false;
  line_ = reader_.line();
  values.resize(columns_.size());
  for (size_t place = 0; place < columns_.size(); ++place) values[place] = value(columns_[place]);
  return true;
}

bool ProfileReader::read_cell() {
  if (!reader_.next()) return false;
  const auto index = [&](size_t column, const char* what) {
    const int64_t number = reader_.integer(column);
    if (number < 1 || number > kLargestSide) {
      throw reader_.expected(column, fmt::format("{} 1 to {}", what, kLargestSide));
    }
    return static_cast<int>(number) - 1;
  };
  pending_profile_ = reader_.text(columns_[0]);
  pending_.bidder = index(columns_[1], "a bidder");
  pending_.item = index(columns_[2], "an item");
  pending_.value = value(columns_[3]);
  pending_.line = reader_.line();
  return true;
}

bool ProfileReader::next_long(std::vector<double>& values) {
  if (!std::exchange(first_ready_, false)) {
    if (!has_pending_) return false;
    cells_.clear();
    line_ = pending_.line;
    profile_ = pending_profile_;
    do {
      cells_.push_back(pending_);
      has_pending_ = read_cell();
    } while (has_pending_ && pending_profile_ == profile_);
  }
  values.assign(static_cast<size_t>(bidders_) * items_, -1.0);
  for (const Cell& cell : cells_) {
    if (cell.bidder >= bidders_ || cell.item >= items_) {
      throw user_error("{}:{}: profile '{}' has bidder {} and item {}, but the first has {}x{}",
                       file_, cell.line, printable(profile_), cell.bidder + 1, cell.item + 1,
                       bidders_, items_);
    }
    double& place = values[cell.bidder * items_ + cell.item];
    if (place >= 0.0) {
      throw user_error("{}:{}: profile '{}' has two values of bidder {} for item {}", file_,
                       cell.line, printable(profile_), cell.bidder + 1, cell.item + 1);
    }
    place = cell.value;
  }
  for (size_t place = 0; place < values.size(); ++place) {
    if (values[place] < 0.0) {
      throw user_error("{}:{}: profile '{}' has no value of bidder {} for item {}", file_, line_,
                       printable(profile_), place / items_ + 1, place % items_ + 1);
    }
  }
  return true;
}

}  // namespace agora::auctions
