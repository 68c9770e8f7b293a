#pragma once
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace agora {

// Progress of one long piece of work on stderr: a bar with rate and time left on a terminal, a
// plain line every few seconds when piped, nothing when silenced. One thread reports.
//
//   Progress progress("train", 20000, "steps");
//   for (...) progress.update(step, fmt::format("revenue {:.4f}", revenue));
class Progress {
 public:
  Progress(std::string title, int64_t total, std::string unit, int64_t start = 0);
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(int64_t done, std::string_view note = {});
  void finish(std::string_view note = {});

 private:
  using Clock = std::chrono::steady_clock;
  void show(int64_t done, std::string_view note);

  const std::string title_;
  const std::string unit_;
  const int64_t total_;
  const int64_t start_;  // where a resumed run goes on: not counted in the rate
  const Clock::time_point began_;
  Clock::time_point next_show_;
  int64_t shown_ = -1;
  bool open_ = true;
};

// Work whose length nobody knows: on a terminal a line with the time spent and what it is at, until
// it ends; nothing when piped or silenced. One at a time.
//
//   const Activity activity("exact ama");
//   note_activity("search {} of {}", k, searches);  // from anywhere below
class Activity {
 public:
  explicit Activity(std::string title);
  ~Activity();  // takes its line away
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  struct Line;
  std::unique_ptr<Line> line_;
};
bool activity_is_shown();
void set_activity(std::string note);
template <typename... Args>
void note_activity(fmt::format_string<Args...> format, Args&&... args) {
  if (activity_is_shown()) set_activity(fmt::format(format, std::forward<Args>(args)...));
}

// A message on stderr; where that cannot be written, the work still goes on.
void tell_text(const std::string& text);
template <typename... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  tell_text(fmt::format(format, std::forward<Args>(args)...));
}

// For --quiet and tests.
void silence_progress(bool silent = true);

// "train 1200/20000 steps 6%  310/s  1m 01s left  revenue 0.55", at most `width` columns; a bar
// fills the middle if `bar`. Where it is narrow the note stays: bar, rate, unit and time left give
// way in this order. seconds: spent since `start`.
std::string progress_line(std::string_view title, int64_t start, int64_t done, int64_t total,
                          std::string_view unit, double seconds, std::string_view note, bool bar,
                          size_t width);

// "exact ama  12.3 s  search 3 of 6", at most `width` columns.
std::string activity_line(std::string_view title, double seconds, std::string_view note,
                          size_t width);

// "850 ms", "12.3 s", "4m 05s", "2h 03m", "3d 04h".
std::string duration_text(double seconds);

}  // namespace agora
