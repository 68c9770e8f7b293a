#include "base/parameter.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace agora {
namespace {

std::string text_of(const Argument& argument) {
  if (const double* number = std::get_if<double>(&argument.value()))
    return fmt::format("{}", *number);
  if (const bool* truth = std::get_if<bool>(&argument.value())) return *truth ? "true" : "false";
  return fmt::format("'{}'", printable(std::get<std::string>(argument.value())));
}

std::optional<std::vector<double>> all_numbers(const Argument& argument) {
  if (const double* one = std::get_if<double>(&argument.value())) return std::vector<double>{*one};
  const std::string* text = std::get_if<std::string>(&argument.value());
  return text != nullptr ? numbers_in(*text) : std::nullopt;
}

// What is expected in place of the value; "" if it will do.
std::string expected_value(const Parameter& parameter, const Argument& given) {
  switch (parameter.type) {
    case Parameter::Type::kFlag:
      return std::holds_alternative<bool>(given.value()) ? "" : "true or false";
    case Parameter::Type::kFile:
      return std::holds_alternative<std::string>(given.value()) ? "" : "the name of a file";
    case Parameter::Type::kNumbers: {
      const auto numbers = all_numbers(given);
      if (!numbers) return "numbers with commas between them";
      for (const double each : *numbers) {
        if (std::string wanted = expected(parameter, each); !wanted.empty()) return wanted;
      }
      return "";
    }
    case Parameter::Type::kNumber:
      break;
  }
  const double* number = std::get_if<double>(&given.value());
  return number == nullptr ? "a number" : expected(parameter, *number);
}

}  // namespace

Parameter flag(std::string name, std::string summary) {
  return {std::move(name), 0, 0, 1, true, std::move(summary), Parameter::Type::kFlag};
}

Parameter file(std::string name, std::string summary) {
  return {std::move(name), {}, 0, 0, false, std::move(summary), Parameter::Type::kFile};
}

Parameter numbers(std::string name, double preset, double low, double high, std::string summary) {
  return {std::move(name), preset, low, high, false, std::move(summary), Parameter::Type::kNumbers};
}

std::vector<std::string> names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& each : parameters) names.push_back(each.name);
  return names;
}

const Parameter* find(const std::vector<Parameter>& parameters, const std::string& name) {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& each) { return each.name == name; });
  return found == parameters.end() ? nullptr : &*found;
}

std::string expected(const Parameter& parameter, double number) {
  const double low = parameter.low, high = parameter.high;
  if (parameter.whole && number != std::floor(number)) return "a whole number";
  if (number >= low && number <= high) return "";
  if (number > high && high == kFinite) return "a finite number";
  const bool open = number <= high && high >= (parameter.whole ? kMost<int32_t> : kFinite);
  if (low == kAboveZero) {
    return open ? "a positive number" : fmt::format("above 0, at most {}", high);
  }
  if (open && parameter.whole && low == 1) return "a positive number";
  if (open) return fmt::format("a {}number of at least {}", high == kFinite ? "finite " : "", low);
  if (high == kBelowOne) return fmt::format("{} or more, below 1", low);
  return fmt::format("{} to {}", low, high);
}

std::string preset_text(const Parameter& parameter) {
  switch (parameter.type) {
    case Parameter::Type::kFlag:
      return parameter.name;
    case Parameter::Type::kFile:
      return parameter.name + "=FILE";
    case Parameter::Type::kNumbers:
    case Parameter::Type::kNumber:
      break;
  }
  if (!parameter.preset) return parameter.name;
  return parameter.whole ? fmt::format("{}={:.0f}", parameter.name, *parameter.preset)
                         : fmt::format("{}={:.3g}", parameter.name, *parameter.preset);
}

Told::Told(const std::string& kind, const std::vector<Parameter>& parameters,
           const Arguments& arguments) {
  for (const auto& [name, given] : arguments) {
    const Parameter* parameter = find(parameters, name);
    if (parameter == nullptr) {
      const std::vector<std::string> names = names_of(parameters);
      throw user_error("{} takes no '{}'{}{}", kind, printable(name), suggestion(name, names),
                       names.empty() ? "" : fmt::format("; it takes {}", fmt::join(names, ", ")));
    }
    if (const std::string wanted = expected_value(*parameter, given); !wanted.empty()) {
      throw user_error("{}: {} is {}, expected {}", kind, name, text_of(given), wanted);
    }
    values_.emplace(name, given);
  }
  for (const Parameter& each : parameters) {
    if (each.type == Parameter::Type::kFlag) values_.emplace(each.name, *each.preset != 0);
    if (each.type == Parameter::Type::kFile) values_.emplace(each.name, "");
    const bool number =
        each.type == Parameter::Type::kNumber || each.type == Parameter::Type::kNumbers;
    if (number && each.preset) values_.emplace(each.name, *each.preset);
  }
}

double Told::number(const std::string& name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end(), "no parameter {}", name);
  return std::get<double>(found->second.value());
}

std::vector<double> Told::numbers(const std::string& name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end(), "no parameter {}", name);
  return *all_numbers(found->second);
}

bool Told::flag(const std::string& name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end(), "no parameter {}", name);
  return std::get<bool>(found->second.value());
}

std::string Told::text(const std::string& name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end(), "no parameter {}", name);
  return std::get<std::string>(found->second.value());
}

}  // namespace agora
