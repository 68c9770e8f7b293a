#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

namespace agora {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kBarInterval = 100ms;
constexpr milliseconds kLineInterval = 5000ms;
constexpr size_t kBarCells = 24, kFewestBarCells = 8;

constexpr milliseconds kActivityDelay = 500ms, kActivityInterval = 200ms;
constexpr const char* kClearLine = "\r\x1b[K";

std::atomic<bool> silent{false};
std::atomic<bool> activity_shown{false};
std::atomic<bool> activity_line_open{false};  // the cursor stands behind it
std::mutex activity_mutex;
std::string activity_note;

bool on_terminal() {
  static const bool terminal = isatty(STDERR_FILENO) == 1;
  return terminal;
}

size_t terminal_width() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

// Three significant digits: 0.52/s, 17.1/s, 310/s, 12.3k/s, 4.5M/s.
std::string rate_text(double rate) {
  if (rate >= 1e6) return fmt::format("{:.3g}M/s", rate / 1e6);
  if (rate >= 1e4) return fmt::format("{:.3g}k/s", rate / 1e3);
  return rate >= 100 ? fmt::format("{:.0f}/s", rate) : fmt::format("{:.3g}/s", rate);
}

std::string bar_text(double share, size_t cells) {
  const auto filled = static_cast<size_t>(std::lround(share * static_cast<double>(cells)));
  return "[" + std::string(filled, '#') + std::string(cells - filled, '.') + "] ";
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(std::min(seconds, 1e12)));
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  const int64_t minutes = whole / 60;
  if (minutes < 1440) return fmt::format("{}h {:02}m", minutes / 60, minutes % 60);
  return fmt::format("{}d {:02}h", minutes / 1440, minutes / 60 % 24);
}

std::string progress_line(std::string_view title, int64_t start, int64_t done, int64_t total,
                          std::string_view unit, double seconds, std::string_view note, bool bar,
                          size_t width) {
  const double share =
      total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 1;
  std::string speed, time, end;
  if (done > start && seconds > 0) {
    const double rate = static_cast<double>(done - start) / seconds;
    speed = "  " + rate_text(rate);
    time = done < total
               ? fmt::format("  {} left", duration_text(static_cast<double>(total - done) / rate))
               : fmt::format("  in {}", duration_text(seconds));
  }
  if (!note.empty()) end = fmt::format("  {}", note);
  std::string counted = fmt::format(" {}", unit);
  const auto rest = [&] {
    return fmt::format("{}/{}{} {:.0f}%{}{}{}", done, total, counted, std::floor(share * 100),
                       speed, time, end);
  };
  const std::string head = fmt::format("{} ", title);
  for (std::string* part : {&speed, &counted, &time}) {
    if (head.size() + rest().size() <= width) break;
    part->clear();
  }
  const size_t used = head.size() + rest().size() + 3;  // brackets and a space
  const size_t room = width > used ? std::min(width - used, kBarCells) : 0;
  return (head + (bar && room >= kFewestBarCells ? bar_text(share, room) : "") + rest())
      .substr(0, width);
}

void tell_text(const std::string& text) {
  if (activity_line_open.exchange(false) && std::fputs(kClearLine, stderr) < 0) {
    std::clearerr(stderr);
  }
  if (std::fputs(text.c_str(), stderr) < 0) std::clearerr(stderr);
}

void silence_progress(bool quiet) { silent = quiet; }

Progress::Progress(std::string title, int64_t total, std::string unit, int64_t start)
    : title_(std::move(title)),
      unit_(std::move(unit)),
      total_(total),
      start_(start),
      began_(Clock::now()),
      next_show_(began_ + (on_terminal() ? kBarInterval : kLineInterval)) {}

Progress::~Progress() {
  if (open_ && shown_ >= 0 && on_terminal() && !silent) tell("\n");
}

void Progress::update(int64_t done, std::string_view note) {
  if (silent || Clock::now() < next_show_) return;
  show(done, note);
  next_show_ = Clock::now() + (on_terminal() ? kBarInterval : kLineInterval);
}

void Progress::finish(std::string_view note) {
  if (silent || !open_) return;
  show(total_, note);
  if (on_terminal()) tell("\n");
  open_ = false;
}

void Progress::show(int64_t done, std::string_view note) {
  const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  const bool bar = on_terminal();
  const std::string line = progress_line(title_, start_, done, total_, unit_, seconds, note, bar,
                                         bar ? terminal_width() - 1 : std::string::npos);
  // Return to the start and clear the line; one write, so that lines of other threads stay whole.
  tell("{}", bar ? kClearLine + line : line + "\n");
  shown_ = done;
}

std::string activity_line(std::string_view title, double seconds, std::string_view note,
                          size_t width) {
  return fmt::format("{}  {}{}{}", title, duration_text(seconds), note.empty() ? "" : "  ", note)
      .substr(0, width);
}

bool activity_is_shown() { return activity_shown; }

void set_activity(std::string note) {
  const std::scoped_lock lock(activity_mutex);
  activity_note = std::move(note);
}

struct Activity::Line {
  explicit Line(std::string name) : title(std::move(name)), thread([this] { run(); }) {}
  ~Line() {
    {
      const std::scoped_lock lock(mutex);
      over = true;
    }
    ended.notify_one();
    thread.join();
    if (activity_line_open) tell_text("");
  }

  void run() {
    const auto began = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex);
    for (milliseconds wait = kActivityDelay; !ended.wait_for(lock, wait, [&] { return over; });
         wait = kActivityInterval) {
      std::string note;
      {
        const std::scoped_lock note_lock(activity_mutex);
        note = activity_note;
      }
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      tell("{}", activity_line(title, seconds, note, terminal_width() - 1));  // clears the last one
      activity_line_open = true;
    }
  }

  const std::string title;
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false;
  std::thread thread;  // the last member: it uses the others
};

Activity::Activity(std::string title) {
  if (!on_terminal() || silent) return;
  set_activity("");
  activity_shown = true;
  line_ = std::make_unique<Line>(std::move(title));
}

Activity::~Activity() { activity_shown = false; }

}  // namespace agora
