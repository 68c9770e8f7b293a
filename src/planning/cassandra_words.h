#pragma once
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>

#include "planning/text.h"

namespace agora::planning {

// A Cassandra file as words: names, numbers, ':' and '*'; comments from # to the end of the line
// are left out. They are read line by line and not kept.
class CassandraWords {
 public:
  explicit CassandraWords(const std::filesystem::path& file) : path_(file.string()), lines_(file) {}

 protected:
  struct Word {
    std::string text;
    int64_t line;
  };

  [[noreturn]] void fail(int64_t line, const std::string& message) const;
  const Word& peek(size_t ahead = 0);  // an empty word at the end
  Word take();
  void expect_colon(const char* after);
  bool at_keyword();  // the next word opens another rule, or there is none
  bool at_end() { return peek().text.empty(); }
  int64_t next_line() { return at_end() ? end_line() : peek().line; }
  int64_t end_line() const { return lines_.number() + 1; }  // once everything was read

 private:
  bool split_line();

  std::string path_;
  LineReader lines_;
  std::deque<Word> words_;  // read but not taken
};

}  // namespace agora::planning
