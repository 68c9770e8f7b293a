#pragma once
#include <chrono>

namespace agora::agents {

// Where the seconds of a learner go.
struct Profile {
  double environment = 0;  // steps of the environments
  double upload = 0;       // what is seen, to the device
  double inference = 0;    // what is done, and waiting for it
  double learning = 0;
  double waiting = 0;     // for those who play ahead
  double overlapped = 0;  // of all these, what others went on beside

  Profile& operator+=(const Profile& other) {
    environment += other.environment;
    upload += other.upload;
    inference += other.inference;
    learning += other.learning;
    waiting += other.waiting;
    overlapped += other.overlapped;
    return *this;
  }
};

// Adds the seconds of its life to a number.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - began_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  Clock::time_point began_ = Clock::now();
};

}  // namespace agora::agents
