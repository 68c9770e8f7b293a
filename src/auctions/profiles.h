#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/csv.h"

namespace agora::auctions {

// Reads profiles of values or bids from a CSV, one after the other in constant memory. Wide form:
// a row per profile with columns b1i1, b1i2, ..., bNiM in any order. Long form: columns bidder,
// item, value with the rows of a profile together; bidders and items count from 1 or have names,
// which take their places in alphabetical order, whatever the order of rows.
// Labels say which profile it is: columns profile, date, day and time, and all before the values.
class ProfileReader {
 public:
  explicit ProfileReader(const std::filesystem::path& path);

  int bidders() const { return bidders_.size; }
  int items() const { return items_.size; }
  const std::vector<std::string>& bidder_names() const { return bidders_.names; }  // (n) or empty
  const std::vector<std::string>& item_names() const { return items_.names; }      // (m) or empty
  const std::vector<std::string>& labels() const { return labels_; }  // their columns, at least one
  // Fills values (bidders, items) with the next profile; false at the end.
  bool next(std::vector<double>& values);
  // Of the profile last read: where it starts and its labels. A wide file without labels has one,
  // profile, counted from 1; in long form rows with other labels are another profile.
  int64_t line() const { return line_; }
  const std::vector<std::string>& label() const { return label_; }
  const std::string& file() const { return file_; }

 private:
  struct Cell {
    int bidder, item;
    double value;
    int64_t line;
  };
  // The bidders or the items of a long form, which the first profile tells.
  struct Side {
    const char* what;
    const char* a;  // with its article
    int size = 0;
    bool named = false;
    std::map<std::string, int, std::less<>> seats;  // by name
    std::vector<std::string> names;                 // rising
  };
  void read_wide_header();
  void read_long_header();
  // Those before column `values` and those known by name; anything else is left out.
  void find_labels(size_t values);
  double value(size_t column) const;
  bool next_wide(std::vector<double>& values);
  bool next_long(std::vector<double>& values);
  bool read_cell();  // the next row of the long form into pending_
  int place(size_t column, Side& side) const;
  void collect();     // pending_ and all that belong to its profile into cells_
  void seat_names();  // the first profile is complete
  std::string called(const Side& side, int place) const;
  std::string profile() const;  // for messages
  std::string split_hint() const;

  std::string file_;
  CsvReader reader_;
  bool long_form_;
  std::vector<size_t> columns_;  // long: bidder, item, value; wide: (bidders, items)
  std::vector<std::string> labels_;
  std::vector<size_t> label_columns_;  // empty: profiles are counted
  Side bidders_{.what = "bidder", .a = "a bidder", .seats = {}, .names = {}};
  Side items_{.what = "item", .a = "an item", .seats = {}, .names = {}};
  int64_t profiles_ = 0;
  int64_t line_ = 0;
  std::vector<std::string> label_;
  // Long form: the row read ahead, and the cells of the profile being collected.
  Cell pending_{};
  std::vector<std::string> pending_label_;
  bool has_pending_ = false;
  std::vector<Cell> cells_;
  bool seated_ = false;       // the first profile is known
  bool first_ready_ = false;  // cells_ still holds it
};

}  // namespace agora::auctions
