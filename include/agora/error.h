#pragma once
#include <stdexcept>
#include <string>

namespace agora {

// A fault of the program itself: exit status 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The user's mistake, told in one line that names the file, the line or the number that is wrong:
// exit status 2 of the program. Line ends and other control bytes in what it quotes become \xNN.
class UserError : public Error {
 public:
  explicit UserError(const std::string& message);
};

// SIGINT, SIGTERM or SIGHUP, thrown after everything was saved: exit status 128 + signal.
class Interrupted : public Error {
 public:
  explicit Interrupted(int signal);
  int signal() const { return signal_; }

 private:
  int signal_;
};

}  // namespace agora
