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

const Parameter& find_parameter(const std::string& kind, const std::vector<Parameter>& parameters,
                                const std::string& name) {
  if (const Parameter* found = find(parameters, name)) return *found;
  const std::vector<std::string> names = names_of(parameters);
  if (names.empty()) throw user_error("{} takes no parameters, found '{}'", kind, printable(name));
  throw user_error("{}: unknown parameter '{}'{}; it takes {}", kind, printable(name),
                   suggestion(name, names), signature(kind, parameters));
}

}  // namespace

Model make_builtin(const std::string& source) {
  const auto [builtin, arguments] = parse_builtin(source);
  return builtin.make(arguments);
}

std::pair<const BuiltIn&, Told> parse_builtin(const std::string& source) {
  const BuiltIn& builtin = find_builtin(called_name(source));
  return {builtin, told_in(builtin.name, builtin.parameters, source)};
}

std::string called_name(const std::string& source) {
  return std::string(trimmed(source.substr(0, source.find('('))));
}

Told told_in(const std::string& kind, const std::vector<Parameter>& parameters,
             const std::string& source) {
  const std::string_view text = trimmed(source);
  const size_t open = text.find('(');
  Arguments values;
  if (open == text.npos) return Told(kind, parameters, values);
  if (!text.ends_with(')')) throw user_error("'{}': expected ')' at the end", printable(text));
  std::string_view inside = trimmed(text.substr(open + 1, text.size() - open - 2));
  while (!inside.empty()) {
    const size_t comma = inside.find(',');
    const std::string_view pair = trimmed(inside.substr(0, comma));
    const size_t equals = pair.find('=');
    if (equals == pair.npos) {
      throw user_error("{}: expected NAME=VALUE, found '{}'; it takes {}", kind, printable(pair),
                       signature(kind, parameters));
    }
    const Parameter& parameter =
        find_parameter(kind, parameters, std::string(trimmed(pair.substr(0, equals))));
    const std::string_view number = trimmed(pair.substr(equals + 1));
    const auto value = to_number(number);
    if (!value) {
      throw user_error("{}: {} is '{}', expected a number", kind, parameter.name,
                       printable(number));
    }
    if (!values.emplace(parameter.name, *value).second) {
      throw user_error("{}: {} is given twice", kind, parameter.name);
    }
    inside = comma == inside.npos ? std::string_view() : trimmed(inside.substr(comma + 1));
  }
  return Told(kind, parameters, values);
}

std::string signature(const BuiltIn& builtin) {
  return signature(builtin.name, builtin.parameters);
}

std::string signature(const std::string& kind, const std::vector<Parameter>& parameters) {
  std::string all;
  for (const Parameter& parameter : parameters) {
    all += (all.empty() ? "" : ",") + preset_text(parameter);
  }
  return all.empty() ? kind : fmt::format("{}({})", kind, all);
}

}  // namespace agora::planning
