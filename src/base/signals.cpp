#include "base/signals.h"

#include <csignal>

#include "base/error.h"

namespace agora {
namespace {

volatile std::sig_atomic_t received = 0;

extern "C" void on_signal(int signal) {
  received = signal;
  struct sigaction action {};
  action.sa_handler = SIG_DFL;  // the next one kills
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // keeps nohup's wish
  }
}

bool stop_requested() { return received != 0; }

void throw_if_stopped() {
  if (received != 0) throw Interrupted(received);
}

void request_stop(int signal) { received = signal; }

}  // namespace agora
