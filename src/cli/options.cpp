#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/text.h"

namespace agora::cli {
namespace {

constexpr size_t kWordsColumn = 30, kHelpWidth = 100;

// A number below zero is a value, not an option.
bool looks_like_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && (std::isalpha(word[1]) != 0 || word[1] == '-');
}

template <typename Whole>
std::string read_whole(const std::string& text, Whole& to) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  const char* end = digits.data() + digits.size();
  Whole value{};
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc() && stop == end) {
    to = value;
    return "";
  }
  using Limits = std::numeric_limits<Whole>;
  const bool told = std::is_unsigned_v<Whole> || error == std::errc::result_out_of_range;
  const std::string range = told ? fmt::format(" from {} to {}", Limits::min(), Limits::max()) : "";
  return fmt::format("expected a whole number{}, found '{}'", range, printable(text));
}

std::string type_name(const Option& option) {
  switch (option.kind()) {
    case Option::Kind::kFlag:
      return "";
    case Option::Kind::kText:
      return "TEXT";
    case Option::Kind::kWhole:
      return "INT";
    case Option::Kind::kNatural:
      return "UINT";
    case Option::Kind::kReal:
      return "FLOAT";
  }
  return "";
}

// `left` in its column, the words beside it or, if it is too long for that, below.
std::string help_line(const std::string& left, const std::string& words) {
  std::string text = "  " + left;
  size_t column = text.size();
  const auto start_column = [&] {
    if (column + 1 > kWordsColumn) {
      text += '\n';
      column = 0;
    }
    text.append(kWordsColumn - column, ' ');
    column = kWordsColumn;
  };
  start_column();
  std::string_view rest = words;
  while (!rest.empty()) {
    const size_t length = std::min(rest.find(' '), rest.size());
    if (column > kWordsColumn && column + 1 + length > kHelpWidth) {
      text += '\n';
      column = 0;
      start_column();
    } else if (column > kWordsColumn) {
      text += ' ';
      ++column;
    }
    text += rest.substr(0, length);
    column += length;
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  while (text.ends_with(' ')) text.pop_back();
  return text + '\n';
}

}  // namespace

namespace option_types {

std::string read(const std::string& text, std::string& to) {
  to = text;
  return "";
}

std::string read(const std::string& text, std::filesystem::path& to) {
  to = text;
  return "";
}

std::string read(const std::string& text, double& to) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || std::isspace(text[0]) != 0 || *end != '\0' || std::isnan(value)) {
    return fmt::format("expected a number, found '{}'", printable(text));
  }
  if (std::isinf(value) && text.find_first_of("iI") == std::string::npos) {
    return fmt::format("expected a number up to {:.2g} in size, found '{}'",
                       std::numeric_limits<double>::max(), printable(text));
  }
  to = value;
  return "";
}

std::string read(const std::string& text, int& to) { return read_whole(text, to); }
std::string read(const std::string& text, int64_t& to) { return read_whole(text, to); }
std::string read(const std::string& text, uint64_t& to) { return read_whole(text, to); }

std::string written(const std::string& value) { return value; }
std::string written(double value) { return fmt::format("{}", value); }
std::string written(int64_t value) { return fmt::to_string(value); }
std::string written(uint64_t value) { return fmt::to_string(value); }

}  // namespace option_types

Check between(int64_t low, int64_t high) {
  return {[=](const std::string& text) -> std::string {
    int64_t value = 0;
    if (std::string complaint = read_whole(text, value); !complaint.empty()) return complaint;
    if (low <= value && value <= high) return "";
    return fmt::format("expected {} to {}, found {}", low, high, printable(text));
  }};
}

Check one_of(std::vector<std::string> words) {
  Offer offer{words, false};
  return {[words = std::move(words)](const std::string& text) -> std::string {
            if (std::find(words.begin(), words.end(), text) != words.end()) return "";
            return fmt::format("expected {}, found '{}'{}", fmt::join(words, " or "),
                               printable(text), suggestion(text, words));
          },
          std::move(offer)};
}

Option& Option::required() {
  required_ = true;
  return *this;
}

Option& Option::shows_default() {
  default_text_ = value_of_target_;
  return *this;
}

Option& Option::hidden() {
  hidden_ = true;
  return *this;
}

Option& Option::check(Check check) {
  checks_.push_back(std::move(check.complaint));
  if (!check.offer.words.empty()) offer_ = std::move(check.offer);
  return *this;
}

Option& Option::offers(std::vector<std::string> words, bool files) {
  offer_ = {std::move(words), files};
  return *this;
}

Option& Option::excludes(const Option& other) {
  excluded_.push_back(&other);
  return *this;
}

std::string Option::shown() const { return positional_ ? name_ : "--" + name_; }

OptionList::OptionList(std::string summary, std::string name, const std::string& program)
    : summary_(std::move(summary)), name_(std::move(name)), usage_(program + " " + name_) {}

UserError OptionList::mistake(const std::string& words) const {
  return UserError(name_ + ": " + words);
}

Option& OptionList::declare(const std::string& name, Option::Kind kind, bool many,
                            std::string value, std::string words, Option::Read read) {
  CHECK(find(name) == nullptr, "{} is declared twice", name);
  Option& option = options_.emplace_back();
  option.positional_ = !name.starts_with("--");
  option.name_ = option.positional_ ? name : name.substr(2);
  option.kind_ = kind;
  option.many_ = many;
  option.value_of_target_ = std::move(value);
  option.words_ = std::move(words);
  option.read_ = std::move(read);
  return option;
}

Option& OptionList::flag(const std::string& name, std::function<void()> then, std::string words) {
  return declare(name, Option::Kind::kFlag, false, "", std::move(words),
                 [then = std::move(then)](const std::string& text) -> std::string {
                   if (text == "true") then();
                   if (text == "true" || text == "false") return "";
                   return fmt::format("expected true or false, found '{}'", printable(text));
                 });
}

Option& OptionList::flag(const std::string& name, bool& target, std::string words) {
  return flag(
      name, [&target] { target = true; }, std::move(words));
}

const Option* OptionList::find(const std::string& name) const {
  for (const Option& option : options_) {
    if (option.shown() == name) return &option;
  }
  return nullptr;
}

bool OptionList::given(const std::string& name) const {
  const Option* option = find(name);
  return option != nullptr && option->given();
}

UserError OptionList::unknown_word() const {
  const std::string name = unknown_->substr(0, unknown_->find('='));
  std::vector<std::string> known;
  for (const Option& option : options_) {
    if (!option.positional_ && !option.hidden_) known.push_back(option.shown());
  }
  return mistake(fmt::format("unknown {} '{}'{}", looks_like_option(name) ? "option" : "argument",
                             printable(name), suggestion(name, known)));
}

bool OptionList::distribute(const std::vector<std::string>& words, bool forgiving) {
  for (Option& option : options_) option.values_.clear();
  std::vector<Option*> places;
  for (Option& option : options_) {
    if (option.positional_) places.push_back(&option);
  }
  unknown_.reset();
  size_t place = 0;
  bool only_places = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!only_places && word == "--") {
      only_places = true;
    } else if (!only_places && (word == "--help" || word == "-h")) {
      if (!forgiving) return false;
    } else if (only_places || !looks_like_option(word)) {
      if (place == places.size()) {
        if (!unknown_) unknown_ = word;
        continue;
      }
      places[place]->values_.push_back(word);
      if (!places[place]->many_) ++place;
    } else {
      const size_t equals = word.find('=');
      auto* option = const_cast<Option*>(find(word.substr(0, equals)));
      if (option == nullptr || option->positional_) {
        if (!unknown_) unknown_ = word;
      } else if (equals != std::string::npos) {
        option->values_.push_back(word.substr(equals + 1));
      } else if (option->kind_ == Option::Kind::kFlag) {
        option->values_.emplace_back("true");
      } else if (i + 1 < words.size() && !looks_like_option(words[i + 1])) {
        option->values_.push_back(words[++i]);
      } else if (!forgiving) {
        throw mistake(option->shown() + ": expected a value, found nothing");
      }
    }
  }
  return true;
}

void OptionList::finish() {
  // What follows on an option that nobody knows may have been its value.
  if (unknown_ && looks_like_option(*unknown_)) throw unknown_word();
  for (Option& option : options_) {
    if (option.values_.size() > 1 && !option.many_) {
      throw mistake(
          fmt::format("{}: expected one value, found {}", option.shown(), option.values_.size()));
    }
    for (const std::string& value : option.values_) {
      std::string complaint = option.read_(value);
      for (const auto& check : option.checks_) {
        if (complaint.empty()) complaint = check(value);
      }
      if (!complaint.empty()) throw mistake(option.shown() + ": " + complaint);
    }
  }
  // A mistake in a value is told before a word that nobody knows.
  if (unknown_) throw unknown_word();
  for (const Option& option : options_) {
    if (option.required_ && !option.given()) throw mistake(option.shown() + " is required");
    for (const Option* other : option.excluded_) {
      if (option.given() && other->given()) {
        throw mistake(option.shown() + " excludes " + other->shown());
      }
    }
  }
}

bool OptionList::parse(const std::vector<std::string>& words) {
  if (!distribute(words, false)) return false;
  finish();
  return true;
}

std::vector<std::string> OptionList::given_in(const std::vector<std::string>& words) {
  distribute(words, true);
  std::vector<std::string> names;
  for (Option& option : options_) {
    if (option.given()) names.push_back(option.name_);
    option.values_.clear();
  }
  return names;
}

std::string OptionList::help() const {
  std::string usage, places, rest;
  for (const Option& option : options_) {
    if (option.hidden_) continue;
    std::string left = option.shown();
    if (const std::string type = type_name(option); !type.empty()) left += " " + type;
    if (!option.default_text_.empty()) left += "=" + option.default_text_;
    if (option.many_) left += " ...";
    if (option.required_) left += " REQUIRED";
    (option.positional_ ? places : rest) += help_line(left, option.words_);
    if (!option.positional_) continue;
    const std::string name = option.name_ + (option.many_ ? "..." : "");
    usage += option.required_ ? " " + name : " [" + name + "]";
  }
  std::string text = fmt::format("{}\nUsage: {} [OPTIONS]{}\n", summary_, usage_, usage);
  if (!places.empty()) text += "\nPositionals:\n" + places;
  text += "\nOptions:\n" + help_line("-h,--help", "Print this help message and exit") + rest;
  if (!footer_.empty()) text += "\n" + footer_ + "\n";
  return text;
}

}  // namespace agora::cli
