#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"

namespace agora {

using Json = nlohmann::ordered_json;  // members keep the order in which they were written

// `name` is what a UserError calls the text: "name:line:column: ...".
Json parse_json(std::string_view text, const std::string& name);
Json parse_json_file(const std::filesystem::path& path);

// indent -1: one line. Non-finite numbers become null; bytes that are no UTF-8 are replaced.
std::string dump_json(const Json& json, int indent = -1);
void write_json(const std::filesystem::path& path, const Json& json);

// The member `key` of an object as a T; its absence or another type is the user's mistake.
template <typename T>
T json_member(const Json& object, const std::string& key, const std::string& name) {
  if (!object.is_object() || !object.contains(key)) {
    throw user_error("{}: expected a member '{}'", name, key);
  }
  try {
    return object.at(key).get<T>();
  } catch (const nlohmann::json::exception&) {
    throw user_error("{}: member '{}' is of the wrong type: {}", name, key,
                     dump_json(object.at(key)).substr(0, 40));
  }
}

}  // namespace agora
