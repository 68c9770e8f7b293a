#pragma once
#include <agora/planning/model.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace agora::planning {

struct ModelPart;

struct Parameter {
  std::string name;
  double preset;
  double low, high;  // both allowed
  bool whole;        // only whole numbers
  std::string summary;
};

// The values given to a built-in model; presets for the others.
class Arguments {
 public:
  explicit Arguments(std::map<std::string, double> values) : values_(std::move(values)) {}
  double number(const std::string& name) const;
  int32_t whole(const std::string& name) const { return static_cast<int32_t>(number(name)); }

 private:
  std::map<std::string, double> values_;
};

// One built-in model is one file of models/, whose `BuiltIn entry_STEM()` fills this.
struct BuiltIn {
  std::string name;
  std::string summary;  // one line, for listings
  std::vector<Parameter> parameters;
  std::function<Model(const Arguments&)> make = {};
  // Where set: one of several parts, without making the others.
  std::function<ModelPart(const Arguments&, int part, int parts)> make_part = {};
};

// Every built-in model, in the order of their file names (generated).
const std::vector<BuiltIn>& builtins();

// "NAME" or "NAME(key=value,key=value)"; values are numbers or fractions such as 1/3.
Model make_builtin(const std::string& source);
std::pair<const BuiltIn&, Arguments> parse_builtin(const std::string& source);
// "maze(rows=21,cols=21,seed=1)": the name with every parameter's preset.
std::string signature(const BuiltIn& builtin);

}  // namespace agora::planning
