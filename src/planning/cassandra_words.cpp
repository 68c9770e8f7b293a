#include "planning/cassandra_words.h"

#include "base/error.h"

namespace agora::planning {

bool CassandraWords::split_line() {
  const auto starts_word = [](char c) {
    return c != ':' && c != '*' && c != '#' && static_cast<unsigned char>(c) > ' ';
  };
  std::string_view line;
  if (!lines_.next(line)) return false;
  for (size_t i = 0; i < line.size() && line[i] != '#';) {
    const char c = line[i];
    if (c == '\0') fail(lines_.number(), "this is not a text file");
    size_t end = i + 1;
    if (starts_word(c)) {
      while (end < line.size() && starts_word(line[end])) ++end;
    }
    if (starts_word(c) || c == ':' || c == '*') {
      words_.push_back({std::string(line.substr(i, end - i)), lines_.number()});
    }
    i = end;
  }
  return true;
}

void CassandraWords::fail(int64_t line, const std::string& message) const {
  throw user_error("{}:{}: {}", path_, line, message);
}

const CassandraWords::Word& CassandraWords::peek(size_t ahead) {
  static const Word end{"", 0};
  while (words_.size() <= ahead) {
    if (!split_line()) return end;
  }
  return words_[ahead];
}

CassandraWords::Word CassandraWords::take() {
  if (at_end()) fail(end_line(), "the file ends in the middle of a rule");
  Word word = std::move(words_.front());
  words_.pop_front();
  return word;
}

void CassandraWords::expect_colon(const char* after) {
  const Word word = take();
  if (word.text != ":") {
    fail(word.line, fmt::format("expected ':' after {}, found '{}'", after, word.text));
  }
}

bool CassandraWords::at_keyword() {
  const std::string text = peek().text;
  if (text.empty()) return true;
  if (text == "start") {
    const std::string next = peek(1).text;
    return next == ":" || ((next == "include" || next == "exclude") && peek(2).text == ":");
  }
  for (const char* keyword :
       {"discount", "values", "states", "actions", "observations", "T", "O", "R"}) {
    if (text == keyword) return peek(1).text == ":";
  }
  return false;
}

}  // namespace agora::planning
