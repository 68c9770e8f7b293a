#pragma once
#include <string>

#include "report/html.h"

namespace agora::report {

std::string badge(Verdict verdict, std::string_view text = {});  // "" for kNone without text
std::string verdict_dot(Verdict verdict, std::string_view text = {});

// Writes blocks and keeps the figures that the page's script will need.
class BlockWriter {
 public:
  explicit BlockWriter(bool interactive) : interactive_(interactive) {}

  std::string write(const Block& block);
  int charts() const { return charts_; }
  std::string figures() const;  // a JSON array, or "" if there are none

 private:
  std::string write(const Paragraph& paragraph);
  std::string write(const Table& table);
  std::string write(const ChartBlock& block);
  std::string write(const Code& code);
  std::string write(const Facts& facts);
  std::string write(const Badges& badges);
  std::string write(const Chart& chart);

  bool interactive_;
  int charts_ = 0, figure_count_ = 0;
  std::string figures_;
};

}  // namespace agora::report
