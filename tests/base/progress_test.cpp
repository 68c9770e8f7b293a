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
  EXPECT_EQ(progress_line("t", 0, 50, 100, "steps", 1, "", true, 20).size(), 20u);
}

TEST(Progress, SilenceAndPipes) {
  testing::internal::CaptureStderr();
  {
    Progress progress("quick", 10, "steps");
    for (int i = 0; i < 10; ++i) progress.update(i);  // too quick to be worth a line
    progress.finish("done");
  }
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(shown.starts_with("quick 10/10 steps 100%")) << shown;
  EXPECT_TRUE(shown.ends_with("  done\n")) << shown;
  silence_progress();
  testing::internal::CaptureStderr();
  Progress("silent", 10, "steps").finish();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  silence_progress(false);
}

}  // namespace
}  // namespace agora
