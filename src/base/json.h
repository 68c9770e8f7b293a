#pragma once
#include <concepts>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace agora {

using Json = nlohmann::ordered_json;  // members keep the order in which they were written

// `name` is what a UserError calls the text: "name:line:column: ...".
Json parse_json(std::string_view text, const std::string& name);
Json parse_json_file(const std::filesystem::path& path);

// indent -1: one line. Non-finite numbers become null; bytes that are no UTF-8 are replaced.
std::string dump_json(const Json& json, int indent = -1);
void write_json(const std::filesystem::path& path, const Json& json);

// A number as a whole one of that type, if it is one; the library itself would cut 1e41 or -1 to
// fit.
template <std::integral T>
std::optional<T> whole_number(const Json& json) {
  if (json.is_number_unsigned()) {
    const auto number = json.get<uint64_t>();
    if (std::in_range<T>(number)) return static_cast<T>(number);
  } else if (json.is_number_integer()) {
    const auto number = json.get<int64_t>();
    if (std::in_range<T>(number)) return static_cast<T>(number);
  }
  return std::nullopt;
}

// Whether it is a T; if so, `to` is what it says.
template <typename T>
bool read_json(const Json& json, T& to) {
  if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    const auto number = whole_number<T>(json);
    if (number) to = *number;
    return number.has_value();
  } else {
    try {
      to = json.get<T>();
      return true;
    } catch (const nlohmann::json::exception&) {
      return false;
    }
  }
}

template <std::integral T>
bool read_json(const Json& json, std::vector<T>& to) {
  if (!json.is_array()) return false;
  to.resize(json.size());
  for (size_t i = 0; i < to.size(); ++i) {
    if (!read_json(json[i], to[i])) return false;
  }
  return true;
}

// The member `key` of an object as a T; its absence or another type is the user's mistake.
template <typename T>
T json_member(const Json& object, const std::string& key, const std::string& name) {
  if (!object.is_object() || !object.contains(key)) {
    throw user_error("{}: expected a member '{}'", name, key);
  }
  T value{};
  if (!read_json(object.at(key), value)) {
    throw user_error("{}: member '{}' is of the wrong type: {}", name, key,
                     dump_json(object.at(key)).substr(0, 40));
  }
  return value;
}

}  // namespace agora
