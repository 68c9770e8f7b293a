#pragma once
// The command line of the programs here: works by name, --serve and --threads.
#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "cli/options.h"

namespace agora::bench {

using cli::OptionList;

struct Asked {
  std::vector<std::string> works;
  bool serve = false;
};

// `declare` adds the options of one program; a mistake is one line and status 2.
inline int run_program(int count, char** arguments, const std::function<void(OptionList&)>& declare,
                       const std::function<void(const Asked&)>& body) {
  OptionList app("Times pieces of work", arguments[0], "");
  Asked asked;
  int threads = 0;
  app.add("works", asked.works, "Works to time");
  app.flag("--serve", asked.serve, "Answer lines `WORK REPS` by one line of JSON each");
  app.add("--threads", threads, "Threads; all cores unless given").check(cli::between(1, 1024));
  declare(app);
  try {
    if (!app.parse({arguments + 1, arguments + count})) {
      fmt::print("{}", app.help());
      return 0;
    }
    if (threads > 0) set_default_threads(threads);
    body(asked);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", arguments[0], error.what());
    return 2;
  }
  return 0;
}

}  // namespace agora::bench
