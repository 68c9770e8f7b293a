#include "agents/environment.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace agora::agents {

void Environment::step_part(std::span<const int32_t> actions, int64_t first) {
  CHECK(first == 0 && std::ssize(actions) == count(), "a part of environments that have none");
  step(actions);
}

namespace {

constexpr int64_t kMostEnvironments = int64_t{1} << 20;

struct Chosen {
  const EnvironmentKind& kind;
  std::string form;
};

const EnvironmentKind& find_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const EnvironmentKind& kind : environments()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  throw user_error("unknown environment '{}'{}; there are {}", printable(name),
                   suggestion(name, names), fmt::join(names, ", "));
}

Chosen choose(const std::string& name) {
  const size_t slash = name.find('/');
  const EnvironmentKind& kind = find_kind(name.substr(0, slash));
  if (slash == name.npos) return {kind, kind.forms.empty() ? "" : kind.forms.front()};
  const std::string form = name.substr(slash + 1);
  if (kind.forms.empty()) {
    throw user_error("{} has one form only, found '{}'", kind.name, printable(name));
  }
  if (std::find(kind.forms.begin(), kind.forms.end(), form) == kind.forms.end()) {
    throw user_error("there is no {}/{}{}; after {}/ may stand {}", kind.name, printable(form),
                     suggestion(form, kind.forms), kind.name, fmt::join(kind.forms, ", "));
  }
  return {kind, form};
}

}  // namespace

std::unique_ptr<Environment> make_environment(const std::string& name,
                                              const EnvironmentOptions& options) {
  const auto [kind, form] = choose(name);
  if (options.count < 1 || options.count > kMostEnvironments) {
    throw user_error("{}: {} environments at a time, expected 1 to {}", kind.name, options.count,
                     kMostEnvironments);
  }
  const Told told(kind.name, kind.parameters, options.arguments);  // refuses what is wrong
  if (const std::string why = kind.missing(options.arguments); !why.empty()) {
    throw user_error("{}: {}", kind.name, why);
  }
  return kind.make(form, options);
}

std::string environment_name(const std::string& name) {
  const auto [kind, form] = choose(name);
  return form.empty() ? kind.name : kind.name + "/" + form;
}

}  // namespace agora::agents
