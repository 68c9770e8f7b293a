#pragma once
// The command line of the programs here: works by name, --serve and --threads.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/thread_pool.h"

namespace agora::bench {

struct Asked {
  std::vector<std::string> works;
  bool serve = false;
};

// `declare` adds the options of one program; a mistake is one line and status 2.
inline int run_program(int count, char** arguments, const std::function<void(CLI::App&)>& declare,
                       const std::function<void(const Asked&)>& body) {
  CLI::App app;
  Asked asked;
  int threads = 0;
  app.add_option("works", asked.works, "Works to time");
  app.add_flag("--serve", asked.serve, "Answer lines `WORK REPS` by one line of JSON each");
  app.add_option("--threads", threads, "Threads; all cores unless given")
      ->check(CLI::Range(1, 1024));
  declare(app);
  try {
    app.parse(count, arguments);
    if (threads > 0) set_default_threads(threads);
    body(asked);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", arguments[0], error.what());
    return 2;
  }
  return 0;
}

}  // namespace agora::bench
