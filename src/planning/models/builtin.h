#pragma once
#include <agora/planning/model.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/parameter.h"

namespace agora::planning {

struct ModelShare;

// One built-in model is one file of models/, whose `BuiltIn entry_STEM()` fills this.
struct BuiltIn {
  std::string name;
  std::string summary;  // one line, for listings
  std::vector<Parameter> parameters;
  std::function<Model(const Told&)> make = {};
  // Where set: one of several shares, without making the others.
  std::function<ModelShare(const Told&, int share, int shares)> make_share = {};
};

// Every built-in model, in the order of their file names (generated).
const std::vector<BuiltIn>& builtins();

// "NAME" or "NAME(key=value,key=value)"; values are numbers or fractions such as 1/3.
Model make_builtin(const std::string& source);
std::pair<const BuiltIn&, Told> parse_builtin(const std::string& source);
// "maze(rows=21,cols=21,seed=1)": the name with every parameter's preset.
std::string signature(const BuiltIn& builtin);
std::string signature(const std::string& kind, const std::vector<Parameter>& parameters);

// The same text for kinds of other registries: its NAME, and what stands in its parentheses.
std::string called_name(const std::string& source);
Told told_in(const std::string& kind, const std::vector<Parameter>& parameters,
             const std::string& source);

}  // namespace agora::planning
