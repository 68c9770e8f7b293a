// A run folder that somebody else wrote: state.json, a line "---", metrics.csv.
#include "base/run_folder.h"

#include "base/error.h"
#include "fuzz/target.h"

namespace agora::fuzz {
namespace {

constexpr std::string_view kSeparator = "\n---\n";

void resume(const std::filesystem::path& folder) {
  RunFolder run = RunFolder::open(folder);
  const auto checkpoint = run.latest();
  const int64_t step = checkpoint ? checkpoint->step : 0;
  if (step == INT64_MAX) return;
  run.metrics().record(step + 1, "revenue", 0.5);
  run.append_file("log").append("a line\n");
  run.save(step + 1, {}, Json{{"a", 1}});
  run.finish({{"revenue", 0.5}});
}

}  // namespace

const bool known = add("run_folder", [](std::string_view input) {
  const std::filesystem::path run = folder() / "run";
  std::filesystem::remove_all(run);
  std::filesystem::create_directory(run);
  const size_t cut = input.find(kSeparator);
  as_file("run/config.toml", "verb = \"auction train\"\nversion = \"0.1.0\"\nformat = 1\n");
  as_file("run/state.json", input.substr(0, cut));
  if (cut != input.npos) as_file("run/metrics.csv", input.substr(cut + kSeparator.size()));
  write_safetensors(run / "checkpoint-1.safetensors",
                    {.tensors = {}, .metadata = {{"agora.extra", "{\"a\":1}"}}, .path = {}});
  resume(run);
});

}  // namespace agora::fuzz
