#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/parameter.h"
#include "cli/options.h"

namespace agora::cli {

// What a parameter may be.
Check within(const Parameter& parameter);

// The options that kinds declare in their own files, all of them on one verb.
class KindOptions {
 public:
  struct Kind {
    std::string name;
    std::vector<Parameter> parameters;
  };
  // `prefix` stands between the dashes and the names of the parameters.
  KindOptions(OptionList& app, std::vector<Kind> kinds, std::string prefix = "");

  // What was given, to one of the kinds. An option that it does not have is the user's mistake,
  // unless it is left at its preset, as the configuration of a run writes it down.
  Arguments given_to(const std::string& kind) const;
  Arguments given() const;  // whoever it is for
  // For what has no parameters any more: `why` follows on "takes no --points: ".
  void expect_none(const std::string& what, const std::string& why) const;

 private:
  struct Entry {
    Parameter parameter;
    std::vector<std::string> of;  // kinds
    const Option* option = nullptr;
    int64_t whole = 0;
    double real = 0;
    bool flag = false;
    std::string text = {};

    bool is_given() const;  // and changes something
    Argument value() const;
  };
  void declare(OptionList& app, Entry& option) const;

  std::string shown(const Parameter& parameter) const { return "--" + prefix_ + parameter.name; }

  std::vector<Kind> kinds_;
  std::string prefix_;
  std::vector<std::unique_ptr<Entry>> options_;
};

// For listings: lines indented by the width of the names above them, or an object of objects.
void print_parameters(const std::vector<Parameter>& parameters, int width);
Json parameters_json(const std::vector<Parameter>& parameters);

// Those of a registry whose entries have a name and parameters.
template <typename Entry>
std::vector<KindOptions::Kind> kinds_of(const std::vector<Entry>& registry) {
  std::vector<KindOptions::Kind> kinds;
  for (const Entry& entry : registry) {
    kinds.push_back({entry.name, {entry.parameters.begin(), entry.parameters.end()}});
  }
  return kinds;
}
template <typename Entry>
std::vector<std::string> names_in(const std::vector<Entry>& registry) {
  std::vector<std::string> names;
  for (const Entry& entry : registry) names.push_back(entry.name);
  return names;
}

}  // namespace agora::cli
