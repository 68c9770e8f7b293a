#pragma once
#include <agora/error.h>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace agora::cli {

// What completes a value: words, and files unless the words are all there are.
struct Offer {
  std::vector<std::string> words;
  bool files = true;
};

struct Check {
  // Looks at a value as it was written; returns the complaint, or "" if it will do.
  std::function<std::string(const std::string&)> complaint;
  Offer offer = {};
};
Check between(int64_t low, int64_t high);
Check one_of(std::vector<std::string> words);

// An option `--name VALUE`, a flag `--name`, or a positional argument `name`.
class Option {
 public:
  enum class Kind { kFlag, kText, kWhole, kNatural, kReal };
  using Read =
      std::function<std::string(const std::string&)>;  // into its target; a complaint or ""

  Option& required();
  Option& shows_default();  // in the help, and in what a run remembers
  Option& hidden();         // not in the help
  Option& check(Check check);
  Option& offers(std::vector<std::string> words, bool files = true);
  Option& excludes(const Option& other);

  const std::string& name() const { return name_; }  // without dashes
  std::string shown() const;                         // as users write it: --name or name
  Kind kind() const { return kind_; }
  bool positional() const { return positional_; }
  bool many() const { return many_; }
  bool given() const { return !values_.empty(); }
  const std::vector<std::string>& values() const { return values_; }
  const Offer& offer() const { return offer_; }
  bool is_hidden() const { return hidden_; }
  const std::string& default_text() const { return default_text_; }  // "" if it is not shown

 private:
  friend class OptionList;
  std::string name_, words_, value_of_target_, default_text_;
  Kind kind_ = Kind::kText;
  bool positional_ = false, many_ = false, required_ = false, hidden_ = false;
  Read read_;
  std::vector<std::function<std::string(const std::string&)>> checks_;
  Offer offer_;
  std::vector<const Option*> excluded_;
  std::vector<std::string> values_;  // as given
};

// The options of one verb. Targets are written when all words are read and checked one by one, so a
// word that is wrong is told before one that is missing.
class OptionList {
 public:
  // `name` begins what is said of mistakes, `program name` the usage.
  OptionList(std::string summary, std::string name, const std::string& program = "agora");
  OptionList(const OptionList&) = delete;
  OptionList& operator=(const OptionList&) = delete;

  // "--name" or, of a positional argument, "name". T: text, a number, an optional of those, a list.
  template <typename T>
  Option& add(const std::string& name, T& target, const std::string& words);
  Option& flag(const std::string& name, bool& target, std::string words);
  Option& flag(const std::string& name, std::function<void()> then, std::string words);
  void footer(std::string text) { footer_ = std::move(text); }

  // Fills the targets. Returns false if help was asked for; what is wrong is the user's mistake.
  bool parse(const std::vector<std::string>& words);
  // The options that the words give, whatever else may be wrong with them.
  std::vector<std::string> given_in(const std::vector<std::string>& words);
  std::string help() const;

  const std::deque<Option>& all() const { return options_; }
  const Option* find(const std::string& name) const;  // "--name" or "name"; null: none
  bool given(const std::string& name) const;

 private:
  Option& declare(const std::string& name, Option::Kind kind, bool many, std::string value,
                  std::string words, Option::Read read);
  // Gives every word to its option; false if help was asked for.
  bool distribute(const std::vector<std::string>& words, bool forgiving);
  UserError mistake(const std::string& words) const;
  UserError unknown_word() const;
  void finish();

  std::string summary_, name_, usage_, footer_;
  std::deque<Option> options_;          // whose addresses stay
  std::optional<std::string> unknown_;  // a word that is none of them
};

// How a value of each type is read, called and written.
namespace option_types {

std::string read(const std::string& text, std::string& to);
std::string read(const std::string& text, std::filesystem::path& to);
std::string read(const std::string& text, double& to);
std::string read(const std::string& text, int& to);
std::string read(const std::string& text, int64_t& to);
std::string read(const std::string& text, uint64_t& to);
template <typename T>
std::string read(const std::string& text, std::optional<T>& to) {
  return read(text, to.emplace());
}
template <typename T>
std::string read(const std::string& text, std::vector<T>& to) {
  return read(text, to.emplace_back());
}

constexpr Option::Kind kind(const std::string&) { return Option::Kind::kText; }
inline Option::Kind kind(const std::filesystem::path&) { return Option::Kind::kText; }
constexpr Option::Kind kind(const double&) { return Option::Kind::kReal; }
constexpr Option::Kind kind(const int&) { return Option::Kind::kWhole; }
constexpr Option::Kind kind(const int64_t&) { return Option::Kind::kWhole; }
constexpr Option::Kind kind(const uint64_t&) { return Option::Kind::kNatural; }
template <typename T>
constexpr Option::Kind kind(const std::optional<T>&) {
  return kind(T{});
}
template <typename T>
constexpr Option::Kind kind(const std::vector<T>&) {
  return kind(T{});
}

std::string written(const std::string& value);
inline std::string written(const std::filesystem::path& value) { return value.string(); }
std::string written(double value);
std::string written(int64_t value);
std::string written(uint64_t value);
inline std::string written(int value) { return written(int64_t{value}); }
template <typename T>
std::string written(const std::optional<T>& value) {
  return value ? written(*value) : "";
}
template <typename T>
std::string written(const std::vector<T>&) {
  return "";
}

template <typename T>
constexpr bool is_list(const T&) {
  return false;
}
template <typename T>
constexpr bool is_list(const std::vector<T>&) {
  return true;
}

}  // namespace option_types

template <typename T>
Option& OptionList::add(const std::string& name, T& target, const std::string& words) {
  return declare(name, option_types::kind(target), option_types::is_list(target),
                 option_types::written(target), words,
                 [&target](const std::string& text) { return option_types::read(text, target); });
}

}  // namespace agora::cli
