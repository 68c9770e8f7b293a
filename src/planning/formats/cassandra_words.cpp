#include "planning/formats/cassandra_words.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/limits.h"

namespace agora::planning {

CassandraWords::CassandraWords(const std::filesystem::path& file)
    : path_(file.string()), text_(read_text(file, kLongestCassandra)) {
  split();
}

void CassandraWords::split() {
  const auto starts_word = [](char c) {
    return c != ':' && c != '*' && c != '#' && static_cast<unsigned char>(c) > ' ';
  };
  int64_t line = 1;
  for (size_t i = 0; i < text_.size();) {
    const char c = text_[i];
    if (c == '\n') ++line;
    if (c == '#') {
      i = std::min(text_.find('\n', i), text_.size());
    } else if (c == ':' || c == '*') {
      words_.push_back({std::string_view(text_).substr(i++, 1), line});
    } else if (!starts_word(c)) {
      ++i;
    } else {
      size_t end = i;
      while (end < text_.size() && starts_word(text_[end])) ++end;
      words_.push_back({std::string_view(text_).substr(i, end - i), line});
      i = end;
    }
  }
  last_line_ = line;
}

void CassandraWords::fail(int64_t line, const std::string& message) const {
  throw user_error("{}:{}: {}", path_, line, message);
}

const CassandraWords::Word& CassandraWords::peek(size_t ahead) const {
  static const Word end{"", 0};
  return position_ + ahead < words_.size() ? words_[position_ + ahead] : end;
}

CassandraWords::Word CassandraWords::take() {
  if (position_ >= words_.size()) fail(last_line_, "the file ends in the middle of a rule");
  return words_[position_++];
}

void CassandraWords::expect_colon(const char* after) {
  const Word word = take();
  if (word.text != ":") {
    fail(word.line, fmt::format("expected ':' after {}, found '{}'", after, word.text));
  }
}

bool CassandraWords::at_keyword() const {
  const std::string_view text = peek().text;
  if (text.empty()) return true;
  if (text == "start") {
    const std::string_view next = peek(1).text;
    return next == ":" || ((next == "include" || next == "exclude") && peek(2).text == ":");
  }
  for (const char* keyword :
       {"discount", "values", "states", "actions", "observations", "T", "O", "R"}) {
    if (text == keyword) return peek(1).text == ":";
  }
  return false;
}

}  // namespace agora::planning
