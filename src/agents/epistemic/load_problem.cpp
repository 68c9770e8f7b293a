#include <agora/planning/load.h>

#include <filesystem>

#include "agents/epistemic/problem_kind.h"
#include "base/error.h"
#include "base/text.h"
#include "base/toml.h"
#include "planning/models/builtin.h"

namespace agora::agents::epistemic {
namespace {

namespace fs = std::filesystem;

void expect_known(const Json& table, const std::vector<std::string>& keys,
                  const std::string& name) {
  for (const auto& [key, value] : table.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    throw user_error("{}: unknown key '{}'{}; the keys are {}", name, printable(key),
                     suggestion(key, keys), fmt::join(keys, ", "));
  }
}

double real_member(const Json& table, const std::string& key, const std::string& name) {
  const Json* member = table.find(key);
  if (!member) throw user_error("{}: expected a member '{}'", name, key);
  double real = 0;
  int64_t whole = 0;
  if (member->read(whole)) return static_cast<double>(whole);
  if (!member->read(real)) throw user_error("{}: {} is no number", name, key);
  return real;
}

std::vector<Json> tables(const Json& file, const std::string& key, const std::string& name) {
  const Json* found = file.find(key);
  if (!found) return {};
  std::vector<Json> all;
  bool fits = found->read(all);
  for (const Json& each : all) fits = fits && each.is_object();
  if (!fits) throw user_error("{}: expected {} as [[{}]]", name, key, key);
  return all;
}

Member read_member(const fs::path& file, const Json& table, bool weighted) {
  expect_known(table, {"source", "weight", "name"}, file.string());
  const auto source = json_member<std::string>(table, "source", file.string());
  std::error_code ignored;
  const fs::path beside = file.parent_path() / source;
  const bool is_beside = !source.empty() && fs::is_regular_file(beside, ignored);
  return {table.contains("name") ? json_member<std::string>(table, "name", file.string()) : source,
          planning::load(is_beside ? beside.string() : source),
          weighted ? real_member(table, "weight", file.string()) : 0};
}

// Its own discount and horizon, where the options have none, are put there.
Problem read_problem(const fs::path& file, ProblemOptions& options) {
  const std::string name = file.string();
  const Json told = parse_toml_file(file);
  expect_known(told, {"discount", "horizon", "model", "believed"}, name);
  if (told.contains("discount") && !options.discount) {
    options.discount = real_member(told, "discount", name);
  }
  if (told.contains("horizon") && !options.horizon) {
    options.horizon = json_member<int64_t>(told, "horizon", name);
  }
  const std::vector<Json> models = tables(told, "model", name);
  if (models.empty()) throw user_error("{}: expected a [[model]]", name);
  const bool weighted = options.weights.empty();
  if (!weighted && options.weights.size() != models.size()) {
    throw user_error("{}: {} weights for {} models", name, options.weights.size(), models.size());
  }
  std::vector<Member> members, believed;
  for (const Json& each : models) {
    members.push_back(read_member(file, each, weighted));
    if (!weighted) members.back().weight = options.weights[members.size() - 1];
  }
  for (const Json& each : tables(told, "believed", name)) {
    believed.push_back(read_member(file, each, false));
  }
  if (options.discount && !(*options.discount >= 0 && *options.discount <= 1)) {
    throw user_error("{}: discount is {}, expected 0 to 1", name, *options.discount);
  }
  for (auto* each : {&members, &believed}) {
    for (Member& member : *each) {
      if (options.discount) member.model.set_discount(*options.discount);
    }
  }
  return make_problem(name, std::move(members), std::move(believed));
}

Problem built_in(const std::string& source, const ProblemOptions& options) {
  const std::string name = planning::called_name(source);
  std::vector<std::string> names;
  for (const ProblemKind& kind : problem_kinds()) {
    names.push_back(kind.name);
    if (kind.name != name) continue;
    const Told told = planning::told_in(kind.name, kind.parameters, source);
    const std::vector<double> preset = kind.posterior(told);
    const std::vector<double>& weights = options.weights.empty() ? preset : options.weights;
    if (weights.size() != preset.size()) {
      throw user_error("{}: {} weights for {} models", kind.name, weights.size(), preset.size());
    }
    Problem problem = kind.make(told, checked_weights(kind.name, weights));
    for (auto* each : {&problem.members, &problem.believed}) {
      for (Member& member : *each) {
        if (options.discount) member.model.set_discount(*options.discount);
      }
    }
    return problem;
  }
  throw user_error("'{}' is neither a file nor a built-in problem{}; the problems are {}",
                   printable(name), suggestion(name, names), fmt::join(names, ", "));
}

bool looks_like_file(const std::string& source) {
  std::error_code ignored;
  if (source.find('(') != source.npos) return false;
  return fs::exists(source, ignored) || source.find('/') != source.npos ||
         source.find('.') != source.npos;
}

}  // namespace

Problem load_problem(const std::string& source, const ProblemOptions& given) {
  ProblemOptions options = given;
  Problem problem =
      looks_like_file(source) ? read_problem(source, options) : built_in(source, options);
  const int64_t horizon = options.horizon.value_or(0);
  if (horizon < 0) {
    throw user_error("{}: horizon is {}, expected a positive number", source, horizon);
  }
  return horizon > 0 ? cut_off(problem, horizon) : problem;
}

}  // namespace agora::agents::epistemic
