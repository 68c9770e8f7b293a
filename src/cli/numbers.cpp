#include "cli/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <type_traits>

#include "base/error.h"
#include "base/text.h"

namespace agora::cli {
namespace {

// Names of validators, which carry the words that complete an option.
const std::string kOneOf = "one of:", kOffer = "offer:";

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

// Puts the number in plain decimals in place of the text; returns the complaint, if any.
template <typename Whole>
std::string expect_whole(std::string& text) {
  const std::string_view digits = without_plus(text);
  Whole value{};
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end) {
    using Limits = std::numeric_limits<Whole>;
    const bool told = std::is_unsigned_v<Whole> || error == std::errc::result_out_of_range;
    const std::string range =
        told ? fmt::format(" from {} to {}", Limits::min(), Limits::max()) : "";
    return fmt::format("expected a whole number{}, found '{}'", range, printable(text));
  }
  text = fmt::format("{}", value);
  return "";
}

std::string expect_real(std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || std::isnan(value)) {
    return fmt::format("expected a number, found '{}'", printable(text));
  }
  if (std::isinf(value) && text.find_first_of("iI") == std::string::npos) {
    return fmt::format("expected a number up to {:.2g} in size, found '{}'",
                       std::numeric_limits<double>::max(), printable(text));
  }
  return "";
}

}  // namespace

void expect_numbers(CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.starts_with("UINT")) option.transform(CLI::Validator(expect_whole<uint64_t>, ""));
  if (type.starts_with("INT")) option.transform(CLI::Validator(expect_whole<int64_t>, ""));
  if (type.starts_with("FLOAT")) option.transform(CLI::Validator(expect_real, ""));
}

CLI::Validator between(int64_t low, int64_t high) {
  return {[=](std::string& text) -> std::string {
            int64_t value = 0;
            const auto [stop, error] =
                std::from_chars(text.data(), text.data() + text.size(), value);
            if (error == std::errc() && low <= value && value <= high) return "";
            return fmt::format("expected {} to {}, found {}", low, high, printable(text));
          },
          ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
  std::string name = kOneOf + joined(words);
  return CLI::Validator(
      [words = std::move(words)](std::string& text) -> std::string {
        if (std::find(words.begin(), words.end(), text) != words.end()) return "";
        return fmt::format("expected {}, found '{}'{}", fmt::join(words, " or "), printable(text),
                           suggestion(text, words));
      },
      "", std::move(name));
}

CLI::Validator offer(const std::vector<std::string>& words, bool files) {
  return CLI::Validator([](std::string&) { return std::string(); }, "",
                        (files ? kOffer : kOneOf) + joined(words));
}

Offer offer_of(const CLI::Option& option) {
  Offer result;
  try {
    for (int k = 0;; ++k) {
      const std::string name = const_cast<CLI::Option&>(option).get_validator(k)->get_name();
      const bool closed = name.starts_with(kOneOf);
      if (!closed && !name.starts_with(kOffer)) continue;
      std::istringstream words(name.substr(name.find(':') + 1));
      for (std::string word; words >> word;) result.words.push_back(word);
      result.files = result.files && !closed;
    }
  } catch (const CLI::OptionNotFound&) {  // there are no more
  }
  return result;
}

}  // namespace agora::cli
