#include <fmt/format.h>

#include "base/build.h"
#include "base/features.h"
#include "base/processor.h"
#include "cli/verb.h"
#include "compute/device.h"
#include "planning/distributed/distributed.h"

namespace agora::cli::kind_version {
namespace {

void run(const Common& common) {
  const bool gpu = compute::cuda_available();
  const char* const kernels = vector_set_name(vector_set());
  if (common.json) {
    print_json({{"version", AGORA_VERSION},
                {"commit", build_commit()},
                {"build", build_id()},
                {"compiler", AGORA_COMPILER},
                {"build_type", AGORA_BUILD_TYPE},
                {"native", std::string(AGORA_NATIVE_BUILD) == "ON"},
                {"kernels", kernels},
                {"features",
                 {{"cuda", AGORA_HAS_CUDA == 1},
                  {"gpu", gpu ? Json(compute::cuda_description()) : nullptr},
                  {"clp", AGORA_HAS_CLP == 1},
                  {"zlib", AGORA_HAS_ZLIB == 1},
                  {"petsc", AGORA_HAS_PETSC == 1}}}});
    return;
  }
  fmt::print("agora {} ({}), {}, {}\n", AGORA_VERSION, build_commit(), AGORA_COMPILER,
             AGORA_BUILD_TYPE);
  fmt::print("  cpu    {} kernels\n", kernels);
  fmt::print("  cuda   {}\n", compute::cuda_description());
  fmt::print("  clp    {}\n", AGORA_HAS_CLP ? "yes" : "no (linear programs need it)");
  fmt::print("  zlib   {}\n", AGORA_HAS_ZLIB ? "yes" : "no (packed files of images need it)");
  fmt::print("  petsc  {}\n", planning::petsc_description());
}

}  // namespace

Verb entry_version() {
  return {.name = "version",
          .summary = "Version, commit, compiler and the features found",
          .example = "agora version --json",
          .declare = [](OptionList&) { return run; }};
}

}  // namespace agora::cli::kind_version
