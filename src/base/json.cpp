#include "base/json.h"

#include <algorithm>

#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"

namespace agora {

Json parse_json(std::string_view text, const std::string& name) {
  expect_shallow_json(text, name);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const size_t at = std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1);
    const std::string_view before = text.substr(0, at);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t column = at - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    const std::string_view rest = text.substr(at);
    const std::string found =
        rest.empty() ? "the end" : fmt::format("'{}'", printable(rest.substr(0, 12)));
    throw user_error("{}:{}:{}: expected JSON, found {}", name, line, column, found);
  } catch (const Json::exception&) {  // a number beyond a double
    throw user_error("{}: a number is too large", name);
  }
}

Json parse_json_file(const std::filesystem::path& path) {
  return parse_json(read_text(path, kLongestJson), path.string());
}

std::string dump_json(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void write_json(const std::filesystem::path& path, const Json& json) {
  write_atomically(path, dump_json(json, 2) + "\n");
}

}  // namespace agora
