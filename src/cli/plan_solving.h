#pragma once
#include <agora/planning/solve.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace agora::cli {

// The method of a `plan` verb and its options.
struct SolveChoice {
  std::string method;  // empty: z for deterministic models, z-variational for the others
  planning::SolveOptions options;

  planning::Solution run(const planning::Model& model) const;
};

std::shared_ptr<SolveChoice> declare_solving(CLI::App& app);

}  // namespace agora::cli
