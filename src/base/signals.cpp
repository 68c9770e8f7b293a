#include "base/signals.h"

#include <atomic>
#include <csignal>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace agora {
namespace {

std::atomic<int> received{0};  // many threads look
static_assert(std::atomic<int>::is_always_lock_free);

std::mutex saved_mutex;
std::string saved;  // "" if nothing was

std::string what_was_saved() {
  const std::lock_guard lock(saved_mutex);
  return saved.empty() ? "nothing was saved" : saved;
}

extern "C" void on_signal(int signal) {
  received = signal;
  struct sigaction action {};
  action.sa_handler = SIG_DFL;  // the next one kills
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGHUP, &action, nullptr);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // keeps nohup's wish
  }
}

bool stop_requested() { return received.load(std::memory_order_relaxed) != 0; }

void throw_if_stopped() {
  const int signal = received.load(std::memory_order_relaxed);
  if (signal != 0) throw Interrupted(signal);
}

Interrupted::Interrupted(int signal)
    : Error(fmt::format("interrupted by signal {}; {}", signal, what_was_saved())),
      signal_(signal) {}

void note_saved(std::string what) {
  const std::lock_guard lock(saved_mutex);
  saved = std::move(what);
}

void request_stop(int signal) { received = signal; }

}  // namespace agora
