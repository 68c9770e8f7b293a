#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace agora {

// A process of this same program: `agora WORDS...`.
struct Child {
  std::vector<std::string> words;
  std::filesystem::path log = {};  // takes its messages; empty: see below
  enum class State { kWaiting, kRunning, kEnded } state = State::kWaiting;
  int status = 0;                          // of one that ended, as waitpid() tells it
  std::string output = {}, messages = {};  // of one without a log: what it wrote so far
};

// Runs the children, so many at a time; `watch` is called whenever one begins or ends, and every
// few milliseconds in between. A stop asks those that run to stop as well (they save), begins no
// more, and returns when all have ended. Children end with their parent, however that ends, so call
// this from a thread that lives as long as the process.
void run_children(std::vector<Child>& children, int at_once, const std::function<void()>& watch);

// The last line of what it said, without the program's name.
std::string last_words(const Child& child);

// Why it is no success, in one line.
std::string failure_of(const Child& child);

}  // namespace agora
