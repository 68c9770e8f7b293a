#include "cli/kind_options.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"

namespace agora::cli {
namespace {

constexpr size_t kFewKinds = 4;

bool same(const Parameter& a, const Parameter& b) {
  return a.preset == b.preset && a.low == b.low && a.high == b.high && a.whole == b.whole &&
         a.type == b.type && a.summary == b.summary;
}

}  // namespace

Check within(const Parameter& parameter) {
  return {[=](const std::string& text) {
    const auto numbers = parameter.type == Parameter::Type::kNumbers
                             ? numbers_in(text)
                             : std::vector{std::strtod(text.c_str(), nullptr)};
    if (!numbers) return fmt::format("expected numbers with commas, found {}", printable(text));
    for (const double number : *numbers) {
      const std::string wanted = expected(parameter, number);
      if (!wanted.empty()) return fmt::format("expected {}, found {}", wanted, text);
    }
    return std::string();
  }};
}

KindOptions::KindOptions(OptionList& app, std::vector<Kind> kinds, std::string prefix)
    : kinds_(std::move(kinds)), prefix_(std::move(prefix)) {
  for (const Kind& kind : kinds_) {
    for (const Parameter& parameter : kind.parameters) {
      const auto known = std::find_if(options_.begin(), options_.end(), [&](const auto& option) {
        return option->parameter.name == parameter.name;
      });
      if (known == options_.end()) {
        options_.push_back(std::make_unique<Entry>(Entry{parameter, {kind.name}}));
        continue;
      }
      CHECK(same((*known)->parameter, parameter), "{} of {} and {} differ", parameter.name,
            kind.name, (*known)->of[0]);
      (*known)->of.push_back(kind.name);
    }
  }
  for (const auto& option : options_) declare(app, *option);
}

void KindOptions::declare(OptionList& app, Entry& option) const {
  const Parameter& parameter = option.parameter;
  std::string help = parameter.summary;
  std::vector<std::string> others;
  for (const Kind& kind : kinds_) {
    if (find(kind.parameters, parameter.name) == nullptr) others.push_back(kind.name);
  }
  if (!others.empty() && option.of.size() <= std::max(kFewKinds, others.size())) {
    help = fmt::format("{}: {}", fmt::join(option.of, ", "), help);
  } else {
    help[0] = static_cast<char>(std::toupper(help[0]));
    if (!others.empty()) help += fmt::format("; not of {}", fmt::join(others, ", "));
  }
  const std::string name = shown(parameter);
  switch (parameter.type) {
    case Parameter::Type::kFlag:
      option.option = &app.flag(name, option.flag, help);
      return;
    case Parameter::Type::kFile:
      option.option = &app.add(name, option.text, help);
      return;
    case Parameter::Type::kNumbers:
      option.text = fmt::format("{}", *parameter.preset);
      option.option = &app.add(name, option.text, help).check(within(parameter)).shows_default();
      return;
    case Parameter::Type::kNumber:
      break;
  }
  const double preset = parameter.preset.value_or(0);
  option.whole = static_cast<int64_t>(preset);
  option.real = preset;
  Option& number =
      parameter.whole ? app.add(name, option.whole, help) : app.add(name, option.real, help);
  number.check(within(parameter));
  if (parameter.preset) number.shows_default();
  option.option = &number;
}

bool KindOptions::Entry::is_given() const {
  if (!option->given()) return false;
  switch (parameter.type) {
    case Parameter::Type::kFlag:
      return flag != (parameter.preset != 0.0);
    case Parameter::Type::kFile:
      return !text.empty();
    case Parameter::Type::kNumbers:
      return text != fmt::format("{}", *parameter.preset);
    case Parameter::Type::kNumber:
      break;
  }
  return parameter.preset != (parameter.whole ? static_cast<double>(whole) : real);
}

Argument KindOptions::Entry::value() const {
  switch (parameter.type) {
    case Parameter::Type::kFlag:
      return flag;
    case Parameter::Type::kFile:
    case Parameter::Type::kNumbers:
      return text;
    case Parameter::Type::kNumber:
      break;
  }
  return parameter.whole ? Argument(whole) : Argument(real);
}

Arguments KindOptions::given_to(const std::string& kind) const {
  Arguments result;
  for (const auto& option : options_) {
    if (!option->is_given()) continue;
    if (std::find(option->of.begin(), option->of.end(), kind) == option->of.end()) {
      throw user_error("{} takes no {}{}", kind, shown(option->parameter),
                       option->of.size() > kFewKinds
                           ? ""
                           : fmt::format("; {} {}", fmt::join(option->of, ", "),
                                         option->of.size() == 1 ? "does" : "do"));
    }
    result.emplace(option->parameter.name, option->value());
  }
  return result;
}

Arguments KindOptions::given() const {
  Arguments result;
  for (const auto& option : options_) {
    if (option->is_given()) result.emplace(option->parameter.name, option->value());
  }
  return result;
}

void print_parameters(const std::vector<Parameter>& parameters, int width) {
  for (const Parameter& each : parameters) {
    fmt::print("  {:<{}}   {}: {}\n", "", width, preset_text(each), each.summary);
  }
}

Json parameters_json(const std::vector<Parameter>& parameters) {
  Json result = Json::object();
  for (const Parameter& each : parameters) {
    Json preset;  // null: none
    if (each.preset) preset = *each.preset;
    if (each.type == Parameter::Type::kFlag) preset = each.preset != 0.0;
    result[each.name] = {{"default", preset}, {"summary", each.summary}};
  }
  return result;
}

void KindOptions::expect_none(const std::string& what, const std::string& why) const {
  for (const auto& option : options_) {
    if (option->is_given()) {
      throw user_error("{} takes no {}: {}", what, shown(option->parameter), why);
    }
  }
}

}  // namespace agora::cli
