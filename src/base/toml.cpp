#include "base/toml.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"

namespace agora {
namespace {

Json to_json(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table) object[std::string(key.str())] = to_json(value);
    return object;
  }
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const toml::node& value : *array) list.push_back(to_json(value));
    return list;
  }
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_boolean()) return value->get();
  std::ostringstream date;
  node.visit([&](const auto& value) { date << value; });
  return date.str();
}

// A JSON string is a TOML basic string, but for DEL.
std::string string_text(std::string_view value) {
  std::string text = dump_json(std::string(value));
  for (size_t at; (at = text.find('\x7f')) != std::string::npos;) text.replace(at, 1, "\\u007f");
  return text;
}

std::string key_text(const std::string& key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-');
  });
  return bare ? key : string_text(key);
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string value_text(const Json& value) {
  if (value.is_string()) return string_text(value.text());
  if (value.is_number_float()) return number_text(value.get<double>());
  if (value.is_number_unsigned() && value.get<uint64_t>() > std::numeric_limits<int64_t>::max()) {
    throw user_error("{} is too large; whole numbers go up to {}", value.get<uint64_t>(),
                     std::numeric_limits<int64_t>::max());
  }
  if (value.is_array()) {
    std::vector<std::string> items;
    for (const Json& item : value) items.push_back(value_text(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  if (value.is_object()) {
    std::vector<std::string> items;
    for (const auto& [key, item] : value.items()) {
      if (!item.is_null()) items.push_back(key_text(key) + " = " + value_text(item));
    }
    return fmt::format("{{{}}}", fmt::join(items, ", "));
  }
  CHECK(!value.is_null(), "TOML has no null");
  return dump_json(value);
}

// The members of a table, then its tables.
void write_table(const Json& table, const std::string& prefix, std::string& out) {
  for (const auto& [key, value] : table.items()) {
    if (!value.is_object() && !value.is_null()) {
      out += key_text(key) + " = " + value_text(value) + "\n";
    }
  }
  for (const auto& [key, value] : table.items()) {
    if (!value.is_object()) continue;
    const std::string name = prefix + key_text(key);
    out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", name);
    write_table(value, name + ".", out);
  }
}

}  // namespace

Json parse_toml(std::string_view text, const std::string& name) {
  expect_shallow_toml(text, name);
  try {
    return to_json(toml::parse(text));
  } catch (const toml::parse_error& error) {
    const auto place = error.source().begin;
    throw user_error("{}:{}:{}: {}", name, place.line, place.column,
                     printable(error.description(), 120));
  }
}

Json parse_toml_file(const std::filesystem::path& path) {
  return parse_toml(read_text(path, kLongestToml), path.string());
}

std::string to_toml(const Json& object) {
  CHECK(object.is_object(), "TOML is a table");
  std::string out;
  write_table(object, "", out);
  return out;
}

}  // namespace agora
