#include <filesystem>
#include <sstream>

#include "base/json.h"
#include "base/run_folder.h"
#include "base/text.h"
#include "cli/program.h"

namespace agora::cli::kind_resume {
namespace {

namespace fs = std::filesystem;

// A run may come from somebody else: it writes into its folder, and nothing else.
void expect_inside(const fs::path& folder, const Verb& verb, const Json& settings) {
  for (const std::string& option : verb.outputs) {
    const Json* named = settings.find(option);
    if (!named) continue;
    const std::string file = named->is_string() ? named->get<std::string>() : dump_json(*named);
    const fs::path inside = fs::absolute(folder).lexically_normal() / "";
    const fs::path target = fs::absolute(file).lexically_normal();
    if (target.lexically_relative(inside).string().starts_with("..")) {
      throw user_error(
          "{}: the run would write {} outside of its folder; if it may, go on with `agora {} "
          "--config {} --run {} --{} {}`",
          folder.string(), printable(file), verb.name,
          shell_quoted((folder / "config.toml").string()), shell_quoted(folder.string()), option,
          printable(shell_quoted(file)));
    }
  }
}

// A run remembers its verb and options; the verb itself goes on from what it finds in the folder.
void resume(const fs::path& folder, const Common& common) {
  const Json settings = read_run_settings(folder);
  const auto name = json_member<std::string>(settings, "verb", folder.string());
  const Verb* verb = verb_named(name);
  if (verb == nullptr || Parser(*verb).app.find("--run") == nullptr) {
    throw user_error("{}: expected a verb whose work is a run, found '{}'",
                     (folder / "config.toml").string(), printable(name));
  }
  expect_inside(folder, *verb, settings);
  std::vector<std::string> words;
  std::istringstream parts(name);
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
          .declare = [](OptionList& app) {
            auto folder = std::make_shared<std::string>();
            app.add("folder", *folder, "The run's folder").required();
            return [folder](const Common& common) { resume(*folder, common); };
          }};
}

}  // namespace agora::cli::kind_resume
