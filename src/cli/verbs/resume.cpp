#include <filesystem>
#include <sstream>

#include "base/json.h"
#include "base/run_folder.h"
#include "cli/program.h"

namespace agora::cli {
namespace {

// A run remembers its verb and options; the verb itself goes on from what it finds in the folder.
void resume(const std::filesystem::path& folder, const Common& common) {
  const auto verb = json_member<std::string>(read_run_settings(folder), "verb", folder.string());
  std::vector<std::string> words;
  std::istringstream parts(verb);
  for (std::string part; parts >> part;) words.push_back(part);
  words.insert(words.end(), {"--config", (folder / "config.toml").string(), "--run",
                             folder.string(), "--threads", std::to_string(common.threads)});
  if (common.json) words.emplace_back("--json");
  run_words(std::move(words));
}

}  // namespace

Verb entry_resume() {
  return {.name = "resume",
          .summary = "Go on with an interrupted run; the result is the same bits",
          .example = "agora resume runs/reproduce/quick/ch1-optimal-auction-seed-1",
          .declare = [](CLI::App& app) {
            auto folder = std::make_shared<std::string>();
            app.add_option("folder", *folder, "The run's folder")->required();
            return [folder](const Common& common) { resume(*folder, common); };
          }};
}

}  // namespace agora::cli
