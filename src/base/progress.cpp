#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <utility>

namespace agora {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kBarInterval = 100ms;
constexpr milliseconds kLineInterval = 5000ms;
constexpr size_t kBarCells = 24;

std::atomic<bool> silent{false};

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

std::string bar_text(double share) {
  const auto filled = static_cast<size_t>(std::lround(share * kBarCells));
  return "[" + std::string(filled, '#') + std::string(kBarCells - filled, '.') + "] ";
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
  std::string line = fmt::format("{} ", title);
  if (bar) line += bar_text(share);
  line += fmt::format("{}/{} {} {:.0f}%", done, total, unit, std::floor(share * 100));
  if (done > start && seconds > 0) {
    const double rate = static_cast<double>(done - start) / seconds;
    line += "  " + rate_text(rate);
    line += done < total
                ? fmt::format("  {} left", duration_text(static_cast<double>(total - done) / rate))
                : fmt::format("  in {}", duration_text(seconds));
  }
  if (!note.empty()) line += fmt::format("  {}", note);
  return line.substr(0, width);
}

void tell_text(const std::string& text) {
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
  tell("{}", bar ? "\r\x1b[K" + line : line + "\n");
  shown_ = done;
}

}  // namespace agora
