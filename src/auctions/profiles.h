#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/csv.h"

namespace agora::auctions {

// Reads profiles of values or bids from a CSV, one after the other in constant memory. Wide form:
// a row per profile with columns b1i1, b1i2, ..., bNiM in any order. Long form: columns profile,
// bidder, item, value with the rows of a profile together; bidders and items count from 1.
class ProfileReader {
 public:
  explicit ProfileReader(const std::filesystem::path& path);

  int bidders() const { return bidders_; }
  int items() const { return items_; }
  // Fills values (bidders, items) with the next profile; false at the end.
  bool next(std::vector<double>& values);
  // Of the profile last read: where it starts and how it is called (counted from 1 in wide form).
  int64_t line() const { return line_; }
  const std::string& profile() const { return profile_; }
  const std::string& file() const { return file_; }

 private:
  struct Cell {
    int bidder, item;
    double value;
    int64_t line;
  };
  void read_wide_header();
  double value(size_t column) const;
  bool next_wide(std::vector<double>& values);
  bool next_long(std::vector<double>& values);
  bool read_cell();  // the next row of the long form into pending_

  std::string file_;
  CsvReader reader_;
  bool long_form_;
  std::vector<size_t> columns_;  // long: profile, bidder, item, value; wide: (bidders, items)
  int bidders_ = 0, items_ = 0;
  int64_t profiles_ = 0;
  int64_t line_ = 0;
  std::string profile_;
  // Long form: the row read ahead, and the cells of the profile being collected.
  Cell pending_{};
  std::string pending_profile_;
  bool has_pending_ = false;
  std::vector<Cell> cells_;
  bool first_ready_ = false;  // cells_ already holds the first profile
};

}  // namespace agora::auctions
