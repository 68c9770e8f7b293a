#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace agora::planning {

// A Cassandra file as words: names, numbers, ':' and '*'; comments from # to the end of the line
// are left out.
class CassandraWords {
 public:
  explicit CassandraWords(const std::filesystem::path& file);

 protected:
  struct Word {
    std::string_view text;
    int64_t line;
  };

  [[noreturn]] void fail(int64_t line, const std::string& message) const;
  const Word& peek(size_t ahead = 0) const;  // an empty word at the end
  Word take();
  void expect_colon(const char* after);
  bool at_keyword() const;  // the next word opens another rule, or there is none
  bool at_end() const { return position_ >= words_.size(); }
  bool empty() const { return words_.empty(); }
  int64_t next_line() const { return at_end() ? last_line_ : peek().line; }
  int64_t last_line() const { return last_line_; }

 private:
  void split();

  std::string path_, text_;
  std::vector<Word> words_;
  size_t position_ = 0;
  int64_t last_line_ = 1;
};

}  // namespace agora::planning
