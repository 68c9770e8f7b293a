#include "base/progress.h"

#include <gtest/gtest.h>

namespace agora {
namespace {

TEST(Progress, Durations) {
  EXPECT_EQ(duration_text(0.85), "850 ms");
  EXPECT_EQ(duration_text(12.34), "12.3 s");
  EXPECT_EQ(duration_text(59.96), "1m 00s");
  EXPECT_EQ(duration_text(245), "4m 05s");
  EXPECT_EQ(duration_text(7380), "2h 03m");
  EXPECT_EQ(duration_text(3 * 86400 + 4 * 3600), "3d 04h");
}

TEST(Progress, PlainLine) {
  EXPECT_EQ(progress_line("train", 0, 1200, 20000, "steps", 4, "revenue 0.55", false, 200),
            "train 1200/20000 steps 6%  300/s  1m 03s left  revenue 0.55");
  EXPECT_EQ(progress_line("train", 0, 0, 20000, "steps", 0, "", false, 200),
            "train 0/20000 steps 0%");
  EXPECT_EQ(progress_line("train", 0, 100, 100, "steps", 50, "", false, 200),
            "train 100/100 steps 100%  2/s  in 50.0 s");
}

TEST(Progress, ResumedWorkDoesNotCountInTheRate) {
  EXPECT_EQ(progress_line("t", 900, 950, 1000, "steps", 5, "", false, 200),
            "t 950/1000 steps 95%  10/s  5.0 s left");
}

TEST(Progress, BarFitsTheTerminal) {
  const auto line = progress_line("t", 0, 50, 100, "steps", 1, "", true, 200);
  EXPECT_EQ(line, "t [############............] 50/100 steps 50%  50/s  1.0 s left");
  EXPECT_EQ(progress_line("t", 0, 50, 100, "steps", 1, "", true, 20), "t 50/100 50%");
}

// 80 columns less the last one, with the numbers of a long training.
TEST(Progress, TheNoteStaysOnANarrowTerminal) {
  const std::string note = "revenue 0.8821  regret 0.00064  P* 0.8161";
  const auto line = [&](int64_t done, int64_t total, size_t width) {
    return progress_line("train", 0, done, total, "iterations", 9000, note, true, width);
  };
  EXPECT_EQ(line(900, 2000, 79),
            "train 900/2000 45%  3h 03m left  revenue 0.8821  regret 0.00064  P* 0.8161");
  EXPECT_EQ(line(123'456, 400'000, 79),
            "train 123456/400000 30%  5h 36m left  revenue 0.8821  regret 0.00064  P* 0.8161");
  EXPECT_EQ(line(900, 2000, 95),
            "train 900/2000 iterations 45%  0.1/s  3h 03m left  revenue 0.8821  regret 0.00064  P* "
            "0.8161");
  EXPECT_EQ(line(900, 2000, 104),
            "train [####.....] 900/2000 iterations 45%  0.1/s  3h 03m left  revenue 0.8821  regret "
            "0.00064  P* 0.8161");
  for (size_t width = 1; width < 200; ++width) EXPECT_LE(line(900, 2000, width).size(), width);
}

TEST(Activity, IsALineOnATerminalOnly) {
  EXPECT_EQ(activity_line("exact ama", 12.34, "search 3 of 6", 79),
            "exact ama  12.3 s  search 3 of 6");
  EXPECT_EQ(activity_line("solve", 2, "", 79), "solve  2.0 s");
  EXPECT_EQ(activity_line("exact ama", 12.34, "search 3 of 6", 20), "exact ama  12.3 s  s");
  ::testing::internal::CaptureStderr();  // a file
  {
    const Activity activity("solve");
    EXPECT_FALSE(activity_is_shown());
    note_activity("sweep {}", 3);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, SilenceAndPipes) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress("quick", 10, "steps");
    for (int i = 0; i < 10; ++i) progress.update(i);  // too quick to be worth a line
    progress.finish("done");
  }
  const std::string shown = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(shown.starts_with("quick 10/10 steps 100%")) << shown;
  EXPECT_TRUE(shown.ends_with("  done\n")) << shown;
  silence_progress();
  ::testing::internal::CaptureStderr();
  Progress("silent", 10, "steps").finish();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  silence_progress(false);
}

}  // namespace
}  // namespace agora
