#include "planning/models/builtin.h"

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
  if (const Parameter* found = find(builtin.parameters, name)) return *found;
  const std::vector<std::string> names = names_of(builtin.parameters);
  if (names.empty())
    throw user_error("{} takes no parameters, found '{}'", builtin.name, printable(name));
  throw user_error("{}: unknown parameter '{}'{}; it takes {}", builtin.name, printable(name),
                   suggestion(name, names), signature(builtin));
}

}  // namespace

Model make_builtin(const std::string& source) {
  const auto [builtin, arguments] = parse_builtin(source);
  return builtin.make(arguments);
}

std::pair<const BuiltIn&, Told> parse_builtin(const std::string& source) {
  const std::string_view text = trimmed(source);
  const size_t open = text.find('(');
  const BuiltIn& builtin = find_builtin(std::string(trimmed(text.substr(0, open))));
  Arguments values;
  if (open == text.npos) return {builtin, Told(builtin.name, builtin.parameters, values)};
  if (!text.ends_with(')')) throw user_error("'{}': expected ')' at the end", printable(text));
  std::string_view inside = trimmed(text.substr(open + 1, text.size() - open - 2));
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
    if (!values.emplace(parameter.name, *value).second) {
      throw user_error("{}: {} is given twice", builtin.name, parameter.name);
    }
    inside = comma == inside.npos ? std::string_view() : trimmed(inside.substr(comma + 1));
  }
  return {builtin, Told(builtin.name, builtin.parameters, values)};
}

std::string signature(const BuiltIn& builtin) {
  std::string all;
  for (const Parameter& parameter : builtin.parameters) {
    all += (all.empty() ? "" : ",") + preset_text(parameter);
  }
  return all.empty() ? builtin.name : fmt::format("{}({})", builtin.name, all);
}

}  // namespace agora::planning
