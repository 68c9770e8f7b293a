#include "auctions/profiles.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace agora::auctions {
namespace {

constexpr int kLargestSide = 1000;
constexpr std::array<std::string_view, 4> kLabels{"profile", "date", "day", "time"};

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

// A misspelt b2i3, rather than a label.
bool looks_like_a_value(std::string_view name) {
  return name.size() > 1 && (name[0] == 'b' || name[0] == 'B') &&
         std::isdigit(static_cast<unsigned char>(name[1])) != 0;
}

bool is_number(std::string_view text) {
  double ignored = 0;
  const char* end = text.data() + text.size();
  return !text.empty() && std::from_chars(text.data(), end, ignored).ptr == end;
}

}  // namespace

ProfileReader::ProfileReader(const std::filesystem::path& path)
    : file_(path.string()), reader_(path), long_form_(reader_.find("bidder").has_value()) {
  if (!long_form_) {
    read_wide_header();
    return;
  }
  read_long_header();
  has_pending_ = read_cell();
  if (!has_pending_) return;
  collect();
  if (!seated_) seat_names();
  first_ready_ = true;
}

void ProfileReader::find_labels(size_t values) {
  for (size_t c = 0; c < reader_.columns().size(); ++c) {
    const std::string& column = reader_.columns()[c];
    const bool known = std::find(kLabels.begin(), kLabels.end(), column) != kLabels.end();
    if (!known && (c >= values || looks_like_a_value(column))) continue;
    labels_.push_back(column);
    label_columns_.push_back(c);
  }
  label_.resize(labels_.size());
}

void ProfileReader::read_long_header() {
  columns_ = reader_.require({"bidder", "item", "value"});
  find_labels(*std::min_element(columns_.begin(), columns_.end()));
  if (labels_.empty()) reader_.require({"profile"});
  std::vector<std::string> known = labels_;
  known.insert(known.end(), {"bidder", "item", "value"});
  reader_.allow_only(known);
}

void ProfileReader::read_wide_header() {
  const std::vector<std::string>& columns = reader_.columns();
  size_t first = 0;
  while (first < columns.size() && !wide_column(columns[first])) ++first;
  if (first < columns.size()) find_labels(first);
  std::vector<std::pair<int, int>> places(columns.size(), {-1, -1});
  for (size_t c = 0; c < columns.size(); ++c) {
    if (std::find(label_columns_.begin(), label_columns_.end(), c) != label_columns_.end()) {
      continue;
    }
    const auto place = wide_column(columns[c]);
    if (!place) {
      throw user_error(
          "{}:1: expected columns b1i1,b1i2,... or profile,bidder,item,value, found '{}'", file_,
          printable(columns[c]));
    }
    places[c] = *place;
    bidders_.size = std::max(bidders_.size, place->first + 1);
    items_.size = std::max(items_.size, place->second + 1);
  }
  columns_.assign(static_cast<size_t>(bidders()) * items(), columns.size());
  for (size_t c = 0; c < columns.size(); ++c) {
    if (places[c].first >= 0) columns_[places[c].first * items() + places[c].second] = c;
  }
  for (size_t place = 0; place < columns_.size(); ++place) {
    if (columns_[place] == columns.size()) {
      throw user_error("{}:1: column 'b{}i{}' is missing: {} bidders and {} items need {} columns",
                       file_, place / items() + 1, place % items() + 1, bidders(), items(),
                       columns_.size());
    }
  }
  if (labels_.empty()) {
    labels_ = {"profile"};
    label_.resize(1);
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
  if (label_columns_.empty()) label_[0] = std::to_string(profiles_);
  return true;
}

bool ProfileReader::next_wide(std::vector<double>& values) {
  if (!reader_.next()) return false;
  line_ = reader_.line();
  values.resize(columns_.size());
  for (size_t place = 0; place < columns_.size(); ++place) values[place] = value(columns_[place]);
  for (size_t k = 0; k < label_columns_.size(); ++k) label_[k] = reader_.text(label_columns_[k]);
  return true;
}

bool ProfileReader::read_cell() {
  if (!reader_.next()) return false;
  pending_label_.resize(labels_.size());
  for (size_t k = 0; k < labels_.size(); ++k) pending_label_[k] = reader_.text(label_columns_[k]);
  if (!seated_ && !cells_.empty() && pending_label_ != label_) seat_names();
  pending_.bidder = place(columns_[0], bidders_);
  pending_.item = place(columns_[1], items_);
  pending_.value = value(columns_[2]);
  pending_.line = reader_.line();
  return true;
}

int ProfileReader::place(size_t column, Side& side) const {
  const std::string_view name = trimmed(reader_.text(column));
  if (side.size == 0) side.named = !is_number(name);
  if (!side.named) {
    const int64_t number = reader_.integer(column);
    if (number < 1 || number > kLargestSide) {
      throw reader_.expected(column, fmt::format("{} 1 to {}", side.a, kLargestSide));
    }
    if (!seated_) side.size = std::max(side.size, static_cast<int>(number));
    return static_cast<int>(number) - 1;
  }
  if (const auto seat = side.seats.find(name); seat != side.seats.end()) return seat->second;
  if (name.empty() || is_number(name)) {
    throw reader_.expected(column, fmt::format("the name of {}", side.a));
  }
  if (seated_) {
    throw reader_.expected(column, fmt::format("{} of the first profile", side.a));
  }
  if (side.size == kLargestSide) {
    throw reader_.expected(column, fmt::format("at most {} {}s", kLargestSide, side.what));
  }
  side.seats.emplace(name, side.size);
  return side.size++;
}

void ProfileReader::collect() {
  cells_.clear();
  line_ = pending_.line;
  label_ = pending_label_;
  do {
    cells_.push_back(pending_);
    has_pending_ = read_cell();
  } while (has_pending_ && pending_label_ == label_);
}

void ProfileReader::seat_names() {
  seated_ = true;
  const auto seat = [&](Side& side, int Cell::*member) {
    std::vector<int> moved(side.seats.size());
    for (auto& [name, place] : side.seats) {
      moved[place] = static_cast<int>(side.names.size());
      place = moved[place];
      side.names.push_back(name);
    }
    for (Cell& cell : cells_) {
      if (side.named) cell.*member = moved[cell.*member];
    }
  };
  seat(bidders_, &Cell::bidder);
  seat(items_, &Cell::item);
}

std::string ProfileReader::called(const Side& side, int place) const {
  return side.named ? fmt::format("{} '{}'", side.what, printable(side.names[place]))
                    : fmt::format("{} {}", side.what, place + 1);
}

std::string ProfileReader::profile() const {
  return printable(fmt::format("{}", fmt::join(label_, ", ")));
}

bool ProfileReader::next_long(std::vector<double>& values) {
  if (!std::exchange(first_ready_, false)) {
    if (!has_pending_) return false;
    collect();
  }
  values.assign(static_cast<size_t>(bidders()) * items(), -1.0);
  for (const Cell& cell : cells_) {
    if (cell.bidder >= bidders() || cell.item >= items()) {
      throw user_error("{}:{}: profile '{}' has bidder {} and item {}, but the first has {}x{}",
                       file_, cell.line, profile(), cell.bidder + 1, cell.item + 1, bidders(),
                       items());
    }
    double& place = values[cell.bidder * items() + cell.item];
    if (place >= 0.0) {
      throw user_error("{}:{}: profile '{}' has two values of {} for {}", file_, cell.line,
                       profile(), called(bidders_, cell.bidder), called(items_, cell.item));
    }
    place = cell.value;
  }
  for (size_t place = 0; place < values.size(); ++place) {
    if (values[place] < 0.0) {
      const int bidder = static_cast<int>(place) / items(),
                item = static_cast<int>(place) % items();
      throw user_error("{}:{}: profile '{}' has no value of {} for {}{}", file_, line_, profile(),
                       called(bidders_, bidder), called(items_, item), split_hint());
    }
  }
  return true;
}

// Rows of one profile whose other labels differ are several profiles.
std::string ProfileReader::split_hint() const {
  for (size_t k = 1; has_pending_ && k < labels_.size(); ++k) {
    if (pending_label_[0] == label_[0] && pending_label_[k] != label_[k]) {
      return fmt::format("; its rows differ in column '{}'", printable(labels_[k]));
    }
  }
  return "";
}

}  // namespace agora::auctions
