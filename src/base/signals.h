#pragma once
#include <string>

namespace agora {

// From here on SIGINT, SIGTERM and SIGHUP only ask to stop. A second SIGINT or SIGTERM ends the
// process at once; a second SIGHUP does not, for a terminal that closes may send two.
// A loop that can be interrupted looks at stop_requested(), saves, and calls throw_if_stopped().
void install_signal_handlers();

bool stop_requested();

// Throws Interrupted(signal) if a signal came; the program then exits with 128 + signal.
void throw_if_stopped();

// What whoever is interrupted from here on is told: what was saved and how to go on. Nothing was,
// unless this says otherwise.
void note_saved(std::string what);

// For tests: as if the signal had come; 0 forgets it.
void request_stop(int signal);

}  // namespace agora
