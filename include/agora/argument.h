#pragma once
#include <concepts>
#include <map>
#include <string>
#include <utility>
#include <variant>

namespace agora {

// What a parameter is set to: a number, true or false, or text.
class Argument {
 public:
  Argument(bool flag) : value_(flag) {}
  Argument(double number) : value_(number) {}
  template <std::integral Whole>
  Argument(Whole number) : value_(static_cast<double>(number)) {}
  Argument(const char* text) : value_(std::string(text)) {}
  Argument(std::string text) : value_(std::move(text)) {}

  const std::variant<bool, double, std::string>& value() const { return value_; }

 private:
  std::variant<bool, double, std::string> value_;
};

// By the names of the parameters: {{"points", 20}, {"bayesian", true}}.
using Arguments = std::map<std::string, Argument>;

}  // namespace agora
