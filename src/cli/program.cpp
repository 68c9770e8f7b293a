#include "cli/program.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/thread_pool.h"
#include "cli/verb.h"

namespace agora::cli {

void print_json(const nlohmann::ordered_json& result) { fmt::print("{}\n", result.dump()); }

namespace {

struct Bound {
  const Verb* verb;
  CLI::App* app;
  std::function<void(const Common&)> run;
  std::shared_ptr<Common> common;
};

void declare_common(CLI::App& app, Common& common) {
  app.add_option("--seed", common.seed, "Seed of all random draws")->capture_default_str();
  app.add_option("--threads", common.threads, "Threads; 0 takes all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--device", common.device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  app.add_flag("--json", common.json, "Print the result as one JSON object on stdout");
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  CLI::App app{"agora learns how agents should act and how markets should be run"};
  app.require_subcommand(1);
  std::map<std::string, CLI::App*> groups;
  std::vector<Bound> bound;
  for (const Verb& verb : verbs()) {
    CLI::App* parent = &app;
    std::string word = verb.name;
    if (const size_t space = word.find(' '); space != std::string::npos) {
      CLI::App*& group = groups[word.substr(0, space)];
      if (group == nullptr) group = app.add_subcommand(word.substr(0, space))->require_subcommand(1);
      parent = group;
      word = word.substr(space + 1);
    }
    CLI::App* own = parent->add_subcommand(word, verb.summary);
    own->footer("Example:\n  " + verb.example);
    auto common = std::make_shared<Common>();
    auto run = verb.declare(*own);
    declare_common(*own, *common);
    bound.push_back({&verb, own, run, common});
  }
  try {
    app.parse(argc, argv);
    for (Bound& each : bound) {
      if (!each.app->parsed()) continue;
      each.common->arguments.assign(argv, argv + argc);
      set_default_threads(each.common->threads == 0 ? hardware_threads() : each.common->threads);
      each.run(*each.common);
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const Interrupted& error) {
    return 128 + error.signal();
  } catch (const UserError& error) {
    fmt::print(stderr, "agora: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "agora: internal fault: {}\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace agora::cli
