#include "planning/models/builtin.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "planning/model/text.h"

namespace agora::planning {
namespace {

const BuiltIn& find_builtin(const std::string& name) {
  std::vector<std::string> names;
  for (const BuiltIn& builtin : builtins()) {
    if (builtin.name == name) return builtin;
    names.push_back(builtin.name);
  }
  throw user_error("'{}' is neither a file nor a built-in model{}; the models are {}",
                   printable(name), suggestion(name, names), fmt::join(names, ", "));
}

const Parameter& find_parameter(const BuiltIn& builtin, const std::string& name) {
  std::vector<std::string> names;
  for (const Parameter& parameter : builtin.parameters) {
    if (parameter.name == name) return parameter;
    names.push_back(parameter.name);
  }
  if (names.empty())
    throw user_error("{} takes no parameters, found '{}'", builtin.name, printable(name));
  throw user_error("{}: unknown parameter '{}'{}; it takes {}", builtin.name, printable(name),
                   suggestion(name, names), signature(builtin));
}

void check_value(const BuiltIn& builtin, const Parameter& parameter, std::string_view text,
                 double value) {
  if (parameter.whole && value != std::floor(value)) {
    throw user_error("{}: {} is {}, expected a whole number", builtin.name, parameter.name, text);
  }
  if (!(value >= parameter.low && value <= parameter.high)) {
    throw user_error("{}: {} is {}, expected {} to {}", builtin.name, parameter.name, text,
                     parameter.low, parameter.high);
  }
}

}  // namespace

double Arguments::number(const std::string& name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end(), "no parameter {}", name);
  return found->second;
}

Model make_builtin(const std::string& source) {
  const auto [builtin, arguments] = parse_builtin(source);
  return builtin.make(arguments);
}

std::pair<const BuiltIn&, Arguments> parse_builtin(const std::string& source) {
  const std::string_view text = trimmed(source);
  const size_t open = text.find('(');
  const BuiltIn& builtin = find_builtin(std::string(trimmed(text.substr(0, open))));
  std::map<std::string, double> values;
  for (const Parameter& parameter : builtin.parameters) values[parameter.name] = parameter.preset;
  if (open == text.npos) return {builtin, Arguments(values)};
  if (!text.ends_with(')')) throw user_error("'{}': expected ')' at the end", printable(text));
  std::string_view inside = trimmed(text.substr(open + 1, text.size() - open - 2));
  std::map<std::string, bool> given;
  while (!inside.empty()) {
    const size_t comma = inside.find(',');
    const std::string_view pair = trimmed(inside.substr(0, comma));
    const size_t equals = pair.find('=');
    if (equals == pair.npos) {
      throw user_error("{}: expected NAME=VALUE, found '{}'; it takes {}", builtin.name,
                       printable(pair), signature(builtin));
    }
    const Parameter& parameter =
        find_parameter(builtin, std::string(trimmed(pair.substr(0, equals))));
    const std::string_view number = trimmed(pair.substr(equals + 1));
    const auto value = to_number(number);
    if (!value) {
      throw user_error("{}: {} is '{}', expected a number", builtin.name, parameter.name,
                       printable(number));
    }
    check_value(builtin, parameter, number, *value);
    if (std::exchange(given[parameter.name], true)) {
      throw user_error("{}: {} is given twice", builtin.name, parameter.name);
    }
    values[parameter.name] = *value;
    inside = comma == inside.npos ? std::string_view() : trimmed(inside.substr(comma + 1));
  }
  return {builtin, Arguments(values)};
}

std::string signature(const BuiltIn& builtin) {
  std::string all;
  for (const Parameter& parameter : builtin.parameters) {
    all += fmt::format("{}{}={:.3g}", all.empty() ? "" : ",", parameter.name, parameter.preset);
  }
  return all.empty() ? builtin.name : fmt::format("{}({})", builtin.name, all);
}

}  // namespace agora::planning
