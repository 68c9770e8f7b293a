#include "cli/config.h"

#include <toml++/toml.h>

#include <charconv>
#include <set>

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"

namespace agora::cli {
namespace {

// Options that say how to run, not what: they have no place in a configuration.
const std::set<std::string> kNotSettings{"help", "config", "run", "json", "threads"};
// What a run folder's config.toml says of itself.
const std::set<std::string> kAboutTheFile{"verb", "version", "format"};

std::vector<std::string> values_of(const toml::node& node, const std::string& where) {
  if (const auto* list = node.as_array()) {
    std::vector<std::string> values;
    for (const toml::node& each : *list) {
      for (std::string& value : values_of(each, where)) values.push_back(std::move(value));
    }
    return values;
  }
  if (const auto* text = node.as_string()) return {text->get()};
  if (const auto* whole = node.as_integer()) return {fmt::format("{}", whole->get())};
  if (const auto* real = node.as_floating_point()) return {fmt::format("{}", real->get())};
  if (const auto* truth = node.as_boolean()) return {truth->get() ? "true" : "false"};
  throw user_error("{}: expected a number, text, true, false or a list", where);
}

Json typed(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  const char* end = text.data() + text.size();
  int64_t whole = 0;
  if (auto [stop, error] = std::from_chars(text.data(), end, whole);
      error == std::errc() && stop == end)
    return whole;
  // TOML has no whole numbers beyond 63 bits; as text they keep all digits.
  if (text.find_first_not_of("0123456789") == std::string::npos) return text;
  double real = 0;
  if (auto [stop, error] = std::from_chars(text.data(), end, real);
      error == std::errc() && stop == end)
    return real;
  return text;
}

}  // namespace

std::vector<std::string> with_config(const Verb& verb, const std::string& file,
                                     const std::vector<std::string>& words) {
  toml::table table;
  const std::string text = read_text(file, kLongestToml);
  expect_shallow_toml(text, file);
  try {
    table = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw user_error("{}:{}: {}", file, error.source().begin.line,
                     printable(error.description(), 120));
  }
  if (const auto made_for = table["verb"].value<std::string>();
      made_for && *made_for != verb.name) {
    throw user_error("{}: is a configuration of '{}', not of '{}'", file, printable(*made_for),
                     verb.name);
  }
  Parser parser(verb);
  std::vector<std::string> known;
  for (const Option& option : parser.app.all()) {
    if (!kNotSettings.contains(option.name())) known.push_back(option.name());
  }
  const std::vector<std::string> already = parser.app.given_in(words);
  std::vector<std::string> options;
  std::vector<std::string> positionals;
  for (const auto& [toml_key, node] : table) {
    const std::string key(toml_key.str());
    const std::string where = fmt::format("{}:{}: {}", file, node.source().begin.line, key);
    if (kAboutTheFile.contains(key)) continue;
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw user_error("{}:{}: unknown key '{}'{}", file, node.source().begin.line, printable(key),
                       suggestion(key, known));
    }
    if (std::find(already.begin(), already.end(), key) != already.end()) continue;
    const std::vector<std::string> values = values_of(node, where);
    if (values.empty()) throw user_error("{}: expected a value, found an empty list", where);
    const Option* positional = parser.app.find(key);
    if (positional != nullptr) {
      for (const std::string& value : values) {
        if (!value.starts_with('-')) continue;
        throw user_error("{}: expected a value, found the option '{}'", where, printable(value));
      }
      positionals.insert(positionals.end(), values.begin(), values.end());
    } else if (parser.app.find("--" + key)->kind() == Option::Kind::kFlag) {
      if (values.size() > 1) {
        throw user_error("{}: expected true or false, found a list of {}", where, values.size());
      }
      options.push_back(fmt::format("--{}={}", key, values[0]));
    } else {
      for (const std::string& value : values) options.push_back(fmt::format("--{}={}", key, value));
    }
  }
  options.insert(options.end(), words.begin(), words.end());
  options.insert(options.end(), positionals.begin(), positionals.end());
  return options;
}

Json resolved_settings(const Verb& verb, const OptionList& app) {
  Json settings{{"verb", verb.name}};
  for (const Option& option : app.all()) {
    const std::string& key = option.name();
    if (kNotSettings.contains(key)) continue;
    if (option.given() && option.many()) {
      for (const std::string& value : option.values()) settings[key].push_back(typed(value));
    } else if (option.given()) {
      settings[key] = typed(option.values().front());
    } else if (!option.default_text().empty()) {
      settings[key] = typed(option.default_text());
    }
  }
  return settings;
}

std::vector<std::string> words_of(const Verb& verb, const Json& settings) {
  const Parser parser(verb);
  std::vector<std::string> options, positionals;
  for (const Option& option : parser.app.all()) {
    const Json* found = settings.find(option.name());
    if (!found) continue;
    const auto values = found->is_array() ? *found : Json::array({*found});
    for (const auto& value : values) {
      const std::string text = value.is_string() ? value.get<std::string>() : dump_json(value);
      if (option.positional()) {
        positionals.push_back(text);
      } else {
        options.push_back(option.shown() + "=" + text);
      }
    }
  }
  options.insert(options.end(), positionals.begin(), positionals.end());
  return options;
}

}  // namespace agora::cli
