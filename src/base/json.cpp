#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <ostream>

#include "base/files.h"
#include "base/limits.h"

namespace agora {
namespace {

constexpr size_t kShown = 40;

bool is_member(const Json& value) {
  return value.is_array() && value.size() == 2 && value[0].is_string();
}

}  // namespace

Json::Json(bool value) : value_(value) {}
Json::Json(double value) : value_(value) {}
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(Array elements) : value_(std::move(elements)) {}
Json::Json(Object members) : value_(std::move(members)) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json::Json(std::initializer_list<Json> values) {
  if (!std::all_of(values.begin(), values.end(), is_member)) {
    value_ = Array(values);
    return;
  }
  value_ = Object();
  for (const Json& member : values) (*this)[member[0].text()] = member[1];
}

Json Json::array() {
  Json json;
  json.value_ = Array();
  return json;
}

Json Json::array(std::initializer_list<Json> values) {
  Json json;
  json.value_ = Array(values);
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

bool Json::is_number_integer() const {
  return std::holds_alternative<int64_t>(value_) || std::holds_alternative<uint64_t>(value_);
}

bool Json::is_number_unsigned() const {
  const auto* number = std::get_if<int64_t>(&value_);
  return number ? *number >= 0 : std::holds_alternative<uint64_t>(value_);
}

bool Json::read(bool& to) const {
  if (!is_boolean()) return false;
  to = std::get<bool>(value_);
  return true;
}

bool Json::read(double& to) const {
  if (const auto* real = std::get_if<double>(&value_)) {
    to = *real;
  } else if (const auto* number = std::get_if<int64_t>(&value_)) {
    to = static_cast<double>(*number);
  } else if (const auto* large = std::get_if<uint64_t>(&value_)) {
    to = static_cast<double>(*large);
  } else {
    return false;
  }
  return true;
}

bool Json::read(std::string& to) const {
  if (!is_string()) return false;
  to = std::get<std::string>(value_);
  return true;
}

bool Json::read(Json& to) const {
  to = *this;
  return true;
}

const std::string& Json::text() const {
  CHECK(is_string(), "{} is no text", shown());
  return std::get<std::string>(value_);
}

std::string Json::text_of(std::string_view key) const {
  const Json* member = find(key);
  return member && member->is_string() ? member->text() : "";
}

size_t Json::size() const {
  if (is_null()) return 0;
  if (const auto* elements = std::get_if<Array>(&value_)) return elements->size();
  if (const auto* members = std::get_if<Object>(&value_)) return members->size();
  return 1;
}

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : items()) {
    if (name == key) return &value;
  }
  return nullptr;
}

Json& Json::operator[](std::string_view key) & {
  if (is_null()) value_ = Object();
  CHECK(is_object(), "{} has no member '{}'", shown(), key);
  auto& members = std::get<Object>(value_);
  for (auto& [name, value] : members) {
    if (name == key) return value;
  }
  return members.emplace_back(std::string(key), Json()).second;
}

const Json& Json::at(std::string_view key) const& {
  const Json* member = find(key);
  CHECK(member, "{} has no member '{}'", shown(), key);
  return *member;
}

Json& Json::at(std::string_view key) & { return const_cast<Json&>(std::as_const(*this).at(key)); }

const Json* Json::find(const JsonPath& path) const {
  const Json* value = this;
  for (const std::string& key : path.keys()) {
    if (value->is_array()) {
      size_t index = value->size();
      std::from_chars(key.data(), key.data() + key.size(), index);
      value = index < value->size() ? &value->element(index) : nullptr;
    } else {
      value = value->find(key);
    }
    if (!value) return nullptr;
  }
  return value;
}

const Json& Json::at(const JsonPath& path) const {
  const Json* value = find(path);
  CHECK(value, "{} has nothing at /{}", shown(), fmt::join(path.keys(), "/"));
  return *value;
}

Json& Json::at(const JsonPath& path) { return const_cast<Json&>(std::as_const(*this).at(path)); }

const Json::Object& Json::items() const {
  static const Object none;
  const auto* members = std::get_if<Object>(&value_);
  return members ? *members : none;
}

void Json::update(const Json& members) {
  for (const auto& [key, value] : members.items()) (*this)[key] = value;
}

void Json::erase(std::string_view key) {
  if (!is_object()) return;
  std::erase_if(std::get<Object>(value_), [&](const auto& member) { return member.first == key; });
}

const Json& Json::element(size_t index) const {
  CHECK(is_array() && index < size(), "{} has no element {}", shown(), index);
  return std::get<Array>(value_)[index];
}

void Json::push_back(Json value) {
  if (is_null()) value_ = Array();
  CHECK(is_array(), "{} is no array", shown());
  std::get<Array>(value_).push_back(std::move(value));
}

const Json* Json::begin() const {
  if (const auto* elements = std::get_if<Array>(&value_)) return elements->data();
  return this;
}

const Json* Json::end() const {
  if (const auto* elements = std::get_if<Array>(&value_))
    return elements->data() + elements->size();
  return this + (is_null() || is_object() ? 0 : 1);
}

bool Json::operator==(const Json& other) const {
  const bool both_whole = is_number_integer() && other.is_number_integer();
  if (is_number() && other.is_number() && !both_whole) return get<double>() == other.get<double>();
  return value_ == other.value_;
}

std::string Json::shown() const { return dump_json(*this).substr(0, kShown); }

JsonPath::JsonPath(std::string_view path) {
  while (!path.empty()) {
    CHECK(path[0] == '/', "'{}' is no path", path);
    const size_t end = std::min(path.find('/', 1), path.size());
    keys_.emplace_back(path.substr(1, end - 1));
    path.remove_prefix(end);
  }
}

JsonPath JsonPath::operator/(std::string key) const {
  JsonPath longer = *this;
  longer.keys_.push_back(std::move(key));
  return longer;
}

Json parse_json_file(const std::filesystem::path& path) {
  return parse_json(read_text(path, kLongestJson), path.string());
}

std::ostream& operator<<(std::ostream& out, const Json& json) { return out << dump_json(json); }

void write_json(const std::filesystem::path& path, const Json& json) {
  write_atomically(path, dump_json(json, 2) + "\n");
}

}  // namespace agora
