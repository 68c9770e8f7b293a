#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace agora {

class JsonPath;

// A JSON value. Members of an object keep the order in which they were written. In braces, pairs
// that begin with text make an object, anything else an array: {{"a", 1}, {"b", {2, 3}}}.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json(std::nullptr_t = nullptr) {}
  Json(bool value);
  Json(double value);
  template <std::integral T>
  Json(T value) : Json(whole(value)) {}
  Json(const char* value);
  Json(std::string value);
  Json(std::string_view value);
  Json(std::initializer_list<Json> values);
  explicit Json(Array elements);
  explicit Json(Object members);  // of different names
  template <typename T>
  Json(const std::vector<T>& values) : Json(array()) {
    for (const auto& value : values) push_back(Json(value));
  }
  template <typename T, size_t N>
  Json(const std::array<T, N>& values) : Json(std::vector<T>(values.begin(), values.end())) {}
  template <typename T>
  Json(const std::map<std::string, T>& members) : Json(object()) {
    for (const auto& [key, value] : members) (*this)[key] = Json(value);
  }
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  static Json array();
  static Json array(std::initializer_list<Json> values);
  static Json object();

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_boolean() const { return std::holds_alternative<bool>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool is_number() const { return is_number_integer() || is_number_float(); }
  bool is_number_float() const { return std::holds_alternative<double>(value_); }
  bool is_number_integer() const;
  bool is_number_unsigned() const;  // whole and not negative

  // As a T; anything else is a fault of ours. What users wrote is read by json_member().
  template <typename T>
  T get() const {
    T value{};
    CHECK(read(value), "{} is of another type", shown());
    return value;
  }
  // Whether it is a T: a whole number only where the type holds it. If so, `to` is what it says.
  bool read(bool& to) const;
  bool read(double& to) const;
  bool read(std::string& to) const;
  bool read(Json& to) const;
  template <std::integral T>
  bool read(T& to) const {
    if (const auto* number = std::get_if<int64_t>(&value_); number && std::in_range<T>(*number)) {
      to = static_cast<T>(*number);
      return true;
    }
    if (const auto* number = std::get_if<uint64_t>(&value_); number && std::in_range<T>(*number)) {
      to = static_cast<T>(*number);
      return true;
    }
    return false;
  }
  template <typename T>
  bool read(std::vector<T>& to) const {
    if (!is_array()) return false;
    to.clear();
    for (const Json& element : *this) {
      T value{};
      if (!element.read(value)) return false;
      to.push_back(std::move(value));
    }
    return true;
  }
  template <typename T>
  bool read(std::map<std::string, T>& to) const {
    if (!is_object()) return false;
    to.clear();
    for (const auto& [key, member] : items()) {
      if (!member.read(to[key])) return false;
    }
    return true;
  }

  const std::string& text() const;                  // of a string
  std::string text_of(std::string_view key) const;  // of a member; empty if there is no such text

  // Of arrays and objects; 0 of null, 1 of anything else.
  size_t size() const;
  bool empty() const { return size() == 0; }

  // Null becomes an object, and a missing member null.
  Json& operator[](std::string_view key) &;
  // A missing member is a fault of ours. What a temporary holds is moved out of it.
  const Json& operator[](std::string_view key) const& { return at(key); }
  Json operator[](std::string_view key) && { return std::move(at(key)); }
  const Json& at(std::string_view key) const&;
  Json& at(std::string_view key) &;
  Json at(std::string_view key) && { return std::move(at(key)); }
  const Json& at(const JsonPath& path) const;
  Json& at(const JsonPath& path);
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const Json* find(std::string_view key) const;  // null: no such member, or no object
  const Json* find(const JsonPath& path) const;
  const Object& items() const;       // none of anything but an object
  void update(const Json& members);  // those of another object win
  void erase(std::string_view key);

  template <std::integral T>
  const Json& operator[](T index) const& {
    return element(static_cast<size_t>(index));
  }
  template <std::integral T>
  Json& operator[](T index) & {
    return const_cast<Json&>(element(static_cast<size_t>(index)));
  }
  template <std::integral T>
  const Json& at(T index) const& {
    return element(static_cast<size_t>(index));
  }
  void push_back(Json value);  // null becomes an array
  const Json& front() const { return element(0); }
  const Json& back() const { return element(size() - 1); }
  Json& back() { return const_cast<Json&>(element(size() - 1)); }
  // Over the elements of an array, or the one value of anything else but an object and null.
  const Json* begin() const;
  const Json* end() const;
  Json* begin() { return const_cast<Json*>(std::as_const(*this).begin()); }
  Json* end() { return const_cast<Json*>(std::as_const(*this).end()); }

  bool operator==(const Json& other) const;  // 1 and 1.0 are equal

 private:
  template <std::integral T>
  static Json whole(T value) {
    Json json;
    if (std::in_range<int64_t>(value)) {
      json.value_ = static_cast<int64_t>(value);
    } else {
      json.value_ = static_cast<uint64_t>(value);
    }
    return json;
  }
  const Json& element(size_t index) const;
  std::string shown() const;  // its beginning, for messages

  // A uint64_t only where an int64_t is too small.
  std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string, Array, Object> value_;
};

// The way to a value inside another: JsonPath("/stage/seen") / 3.
class JsonPath {
 public:
  explicit JsonPath(std::string_view path);

  JsonPath operator/(std::string key) const;
  JsonPath operator/(size_t index) const { return *this / std::to_string(index); }
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  std::vector<std::string> keys_;
};

// `name` is what a UserError calls the text: "name:line:column: ...".
Json parse_json(std::string_view text, const std::string& name);
Json parse_json_file(const std::filesystem::path& path);

// indent -1: one line. Non-finite numbers become null; bytes that are no UTF-8 are replaced.
std::string dump_json(const Json& json, int indent = -1);
std::ostream& operator<<(std::ostream& out, const Json& json);
void write_json(const std::filesystem::path& path, const Json& json);

// The member `key` of an object as a T; its absence or another type is the user's mistake.
template <typename T>
T json_member(const Json& object, const std::string& key, const std::string& name) {
  const Json* member = object.find(key);
  if (!member) throw user_error("{}: expected a member '{}'", name, key);
  T value{};
  if (!member->read(value)) {
    throw user_error("{}: member '{}' is of the wrong type: {}", name, key,
                     dump_json(*member).substr(0, 40));
  }
  return value;
}

}  // namespace agora
