#pragma once
#include <agora/argument.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

// Kinds (models, mechanisms, solvers, learners, trainings) declare in their own files what they can
// be told. Options of the command line, keys of TOML files, help, completion, errors and the
// library's arguments by name follow from that.
namespace agora {

inline constexpr double kAboveZero = std::numeric_limits<double>::denorm_min();
inline constexpr double kBelowOne = 1.0 - std::numeric_limits<double>::epsilon() / 2;
template <typename Number>
inline constexpr double kMost = static_cast<double>(std::numeric_limits<Number>::max());
inline constexpr double kFinite = kMost<double>;

struct Parameter {
  enum class Type { kNumber, kFlag, kFile, kNumbers };

  std::string name;  // "design-profiles": of the option and of the key
  std::optional<double> preset;
  double low, high;     // both allowed
  bool whole;           // only whole numbers
  std::string summary;  // one line, for listings and help; begins in lower case
  Type type = Type::kNumber;
};
Parameter flag(std::string name, std::string summary);
Parameter file(std::string name, std::string summary);
// One number, or several with commas between them.
Parameter numbers(std::string name, double preset, double low, double high, std::string summary);

std::vector<std::string> names_of(const std::vector<Parameter>& parameters);
const Parameter* find(const std::vector<Parameter>& parameters, const std::string& name);
// What is expected in place of a number, "0 to 1" or "a positive number"; "" if it will do.
std::string expected(const Parameter& parameter, double number);
// "points=50"; "menu=FILE".
std::string preset_text(const Parameter& parameter);

// What a kind was told, with the presets of what it was not.
class Told {
 public:
  // What `kind` has no parameter for, or what is out of its bounds, is the user's mistake.
  Told(const std::string& kind, const std::vector<Parameter>& parameters,
       const Arguments& arguments);

  double number(const std::string& name) const;
  template <typename Whole = int32_t>
  Whole whole(const std::string& name) const {
    return static_cast<Whole>(number(name));
  }
  std::vector<double> numbers(const std::string& name) const;
  bool flag(const std::string& name) const;
  std::string text(const std::string& name) const;  // "" if not told

 private:
  Arguments values_;
};

// A parameter that is a member of the options of its kinds.
template <typename Options>
struct OptionParameter : Parameter {
  std::function<void(Options&, double)> set;
  std::function<std::optional<double>(const Options&)> get;
};

// Its preset is that of the options themselves.
template <typename Options, typename Member>
OptionParameter<Options> parameter(std::string name, Member Options::*member, double low,
                                   double high, std::string summary) {
  constexpr bool kNumber = std::is_arithmetic_v<Member>;
  std::optional<double> preset;
  if constexpr (kNumber) preset = static_cast<double>(Options{}.*member);
  return {{std::move(name), preset, low, high, kNumber && std::is_integral_v<Member>,
           std::move(summary)},
          [member](Options& options, double value) {
            if constexpr (kNumber) {
              options.*member = static_cast<Member>(value);
            } else {
              options.*member = value;
            }
          },
          [member](const Options& options) { return std::optional<double>(options.*member); }};
}

template <typename Each>
std::vector<Each> both(std::vector<Each> some, const std::vector<Each>& others) {
  some.insert(some.end(), others.begin(), others.end());
  return some;
}

template <typename Options>
std::vector<Parameter> declared(const std::vector<OptionParameter<Options>>& parameters) {
  return {parameters.begin(), parameters.end()};
}

// Members that are out of their bounds are the user's mistake.
template <typename Options>
void check_members(const std::string& kind, const std::vector<OptionParameter<Options>>& parameters,
                   const Options& options) {
  Arguments arguments;
  for (const OptionParameter<Options>& each : parameters) {
    if (const auto value = each.get(options)) arguments.emplace(each.name, *value);
  }
  Told(kind, declared(parameters), arguments);
}

// Tells the options what was given by name.
template <typename Options>
void tell_options(Options& options, const std::string& kind,
                  const std::vector<OptionParameter<Options>>& parameters,
                  const Arguments& arguments) {
  const Told told(kind, declared(parameters), arguments);
  for (const OptionParameter<Options>& each : parameters) {
    if (arguments.contains(each.name)) each.set(options, told.number(each.name));
  }
}

}  // namespace agora
