// The settings the thesis names.
#include <cctype>
#include <charconv>
#include <functional>
#include <optional>

#include "auctions/setting.h"
#include "base/error.h"
#include "base/text.h"

namespace agora::auctions {
namespace {

// `parameter`: what stands in brackets (VI(0.1)) or after the underscore (III_4).
struct Family {
  NamedSetting shown;
  bool needs_parameter;
  std::string expected;  // what the parameter is
  std::function<std::string(const std::string& parameter)> expand;
};

const std::vector<Family>& families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> list;
    const auto fixed = [&](const char* name, const char* text, const char* summary) {
      list.push_back({{name, text, summary}, false, "", [text](const std::string&) {
                        return std::string(text);
                      }});
    };
    fixed("I", "1x2 uniform(0,1)", "ch. 4: one bidder, two uniform items");
    fixed("II", "4x5 uniform(0,1)", "ch. 4: four bidders, five items");
    list.push_back({{"III_n", "nx10 uniform(0,1)", "ch. 4: n bidders, ten items (III_4)"},
                    true,
                    "a number of bidders, as in III_4",
                    [](const std::string& n) { return n + "x10 uniform(0,1)"; }});
    fixed("IV", "1x2 power(5) power(6)", "ch. 4: densities 5/(1+x)^6 and 6/(1+y)^7");
    fixed("V", "2x2 uniform(0,1)", "ch. 4: two bidders, two items");
    list.push_back(
        {{"VI(mean)", "1x2 exponential(1) exponential(mean)",
          "ch. 4: exponential items, as the printed table has it (one bidder)"},
         true,
         "the second item's mean, as in VI(0.1)",
         [](const std::string& mean) { return "1x2 exponential(1) exponential(" + mean + ")"; }});
    list.push_back(
        {{"VI2(mean)", "2x2 exponential(1) exponential(mean)",
          "ch. 4: the same as the text describes it (two bidders)"},
         true,
         "the second item's mean, as in VI2(0.1)",
         [](const std::string& mean) { return "2x2 exponential(1) exponential(" + mean + ")"; }});
    fixed("A", "1x2 uniform(0,1)", "ch. 5: Manelli and Vincent's auction");
    fixed("B", "1x2 uniform(4,16) uniform(4,7)", "ch. 5: two different uniform items");
    fixed("C", "1x2 power(5) power(6)", "ch. 5: heavy tails");
    list.push_back(
        {{"online", "1x2 drifting(0)", "ch. 5: U[0,1+t]; online(0.5) is t = .5"},
         false,
         "a time, as in online(0.5)",
         [](const std::string& t) { return "1x2 drifting(" + (t.empty() ? "0" : t) + ")"; }});
    list.push_back(
        {{"alpha", "1x5 uniform(0,1)", "ch. 4: experiment alpha; alpha(m) tests m items"},
         false,
         "a number of items, as in alpha(7)",
         [](const std::string& m) { return "1x" + (m.empty() ? "5" : m) + " uniform(0,1)"; }});
    list.push_back(
        {{"beta", "2x3 uniform(0,1)", "ch. 4: experiment beta; beta(m) tests m items"},
         false,
         "a number of items, as in beta(4)",
         [](const std::string& m) { return "2x" + (m.empty() ? "3" : m) + " uniform(0,1)"; }});
    return list;
  }();
  return all;
}

std::string stem(const Family& family) {
  return family.shown.name.substr(0, family.shown.name.find_first_of("(_"));
}

bool is_number(const std::string& text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

const std::vector<NamedSetting>& named_settings() {
  static const std::vector<NamedSetting> all = [] {
    std::vector<NamedSetting> list;
    for (const Family& family : families()) list.push_back(family.shown);
    return list;
  }();
  return all;
}

std::optional<std::string> expand_name(std::string_view text) {
  if (!std::isalpha(static_cast<unsigned char>(text.front()))) return std::nullopt;
  const std::string shown = printable(text, 200);
  const size_t split = text.find_first_of("(_");
  const std::string name(text.substr(0, split));
  std::string parameter;
  if (split != std::string_view::npos) {
    parameter = text.substr(split + 1);
    if (text[split] == '(') {
      if (parameter.empty() || parameter.back() != ')') {
        throw user_error("setting \"{}\": expected ')' at the end", shown);
      }
      parameter.pop_back();
    }
  }
  std::vector<std::string> names;
  for (const Family& family : families()) {
    names.push_back(stem(family));
    if (names.back() != name) continue;
    const bool takes = !family.expected.empty();
    if (!takes && split != std::string_view::npos) {
      throw user_error("setting \"{}\": {} takes no parameter", shown, name);
    }
    if ((family.needs_parameter && parameter.empty()) ||
        (!parameter.empty() && !is_number(parameter))) {
      throw user_error("setting \"{}\": {} needs {}", shown, name, family.expected);
    }
    return family.expand(parameter);
  }
  throw user_error("setting \"{}\": expected NxM LAW, as in \"2x2 uniform(0,1)\", or one of {}{}",
                   shown, fmt::join(names, ", "), suggestion(name, names));
}

}  // namespace agora::auctions
