#include "base/child_processes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/signals.h"

namespace agora {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{20};

// A file in memory.
class Captured {
 public:
  Captured() : file_(memfd_create("agora", MFD_CLOEXEC)) {
    CHECK(file_ >= 0, "no file in memory: {}", std::strerror(errno));
  }
  ~Captured() { close(file_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  int file() const { return file_; }

  // Appends what was written since the last time.
  void read_on(std::string& text) const {
    struct stat now {};
    if (fstat(file_, &now) != 0) return;
    const auto size = static_cast<size_t>(now.st_size), had = text.size();
    if (size <= had) return;
    text.resize(size);
    const ssize_t count = pread(file_, text.data() + had, size - had, static_cast<off_t>(had));
    text.resize(had + static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }

 private:
  int file_;
};

struct Running {
  Child* child;
  Captured output, messages;
  pid_t process;

  explicit Running(Child& which) : child(&which), process(start()) {
    child->state = Child::State::kRunning;
  }

  bool has_ended() const {
    const bool ended = waitpid(process, &child->status, WNOHANG) == process;
    if (child->log.empty()) {
      output.read_on(child->output);
      messages.read_on(child->messages);
    }
    if (ended) child->state = Child::State::kEnded;
    return ended;
  }

 private:
  pid_t start() const {
    std::vector<char*> arguments{const_cast<char*>("agora")};
    for (const std::string& word : child->words)
      arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const char* log = child->log.empty() ? nullptr : child->log.c_str();
    const pid_t parent = getpid();
    const pid_t forked = fork();
    CHECK(forked >= 0, "a process cannot be started: {}", std::strerror(errno));
    if (forked > 0) return forked;
    // Between fork and exec: system calls only. A run folder is whole after any kill.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it died before the line above
    setpgid(0, 0);                      // Ctrl-C is the parent's; a second signal would kill
    const auto redirect = [](int to, int from) {
      if (from < 0 || dup2(from, to) < 0) _exit(1);
    };
    redirect(STDIN_FILENO, open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (log != nullptr) {
      redirect(STDOUT_FILENO, open("/dev/null", O_WRONLY | O_CLOEXEC));
      redirect(STDERR_FILENO,
               open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
    } else {
      redirect(STDOUT_FILENO, output.file());
      redirect(STDERR_FILENO, messages.file());
    }
    execv("/proc/self/exe", arguments.data());
    _exit(1);
  }
};

}  // namespace

void run_children(std::vector<Child>& children, int at_once, const std::function<void()>& watch) {
  std::map<const Child*, Running> running;
  bool stopping = false;
  const auto waiting = [&] {
    return !stopping && std::any_of(children.begin(), children.end(), [](const Child& child) {
      return child.state == Child::State::kWaiting;
    });
  };
  while (waiting() || !running.empty()) {
    if (stop_requested() && !stopping) {
      stopping = true;
      for (const auto& [child, process] : running) kill(process.process, SIGTERM);
    }
    for (Child& child : children) {
      if (stopping || static_cast<int>(running.size()) >= at_once) break;
      if (child.state == Child::State::kWaiting) running.try_emplace(&child, child);
    }
    if (std::erase_if(running, [](const auto& each) { return each.second.has_ended(); }) == 0) {
      std::this_thread::sleep_for(kBetweenLooks);
    }
    watch();
  }
}

std::string last_words(const Child& child) {
  std::string text = child.messages;
  if (!child.log.empty()) text = std::filesystem::exists(child.log) ? read_file(child.log) : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  text = text.substr(text.rfind('\n') + 1);
  return text.starts_with("agora: ") ? text.substr(7) : text;
}

std::string failure_of(const Child& child) {
  const std::string said = last_words(child);
  if (WIFSIGNALED(child.status)) {
    const int signal = WTERMSIG(child.status);
    return fmt::format("killed by signal {} ({}){}{}", signal, strsignal(signal),
                       said.empty() ? "" : " after: ", said);
  }
  return said.empty() ? fmt::format("ended with status {}", WEXITSTATUS(child.status)) : said;
}

}  // namespace agora
