#pragma once

namespace agora {

// From here on SIGINT and SIGTERM only ask to stop; a second one ends the process at once.
// A loop that can be interrupted looks at stop_requested(), saves, and calls throw_if_stopped().
void install_signal_handlers();

bool stop_requested();

// Throws Interrupted(signal) if a signal came; the program then exits with 128 + signal.
void throw_if_stopped();

// For tests: as if the signal had come; 0 forgets it.
void request_stop(int signal);

}  // namespace agora
