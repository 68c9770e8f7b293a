#include "report/tensorboard.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "support/scratch.h"

namespace agora::report {
namespace {

TEST(TensorBoard, RecordHasMaskedChecksums) {
  // crc32c of eight zero bytes is 0x8c28b28a; masked: rotated right by 15 plus 0xa282ead8.
  const uint32_t crc = 0x8c28b28a, masked = (crc >> 15 | crc << 17) + 0xa282ead8u;
  const std::string record = tensorboard_record("");
  ASSERT_EQ(record.size(), 16u);
  EXPECT_EQ(record.substr(0, 8), std::string(8, '\0'));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(static_cast<uint8_t>(record[8 + i]), masked >> (8 * i) & 0xFF);
  EXPECT_EQ(record.substr(12), std::string("\xd8\xea\x82\xa2"));  // of no bytes: the mask alone
}

TEST(TensorBoard, WritesVersionThenScalars) {
  const Scratch scratch;
  TensorBoardEvents events(scratch / "run");
  EXPECT_TRUE(events.file().filename().string().starts_with("events.out.tfevents."));
  const std::string header = read_file(events.file());
  EXPECT_NE(header.find("brain.Event:2"), std::string::npos);
  events.record(300, "loss", 0.5);
  events.flush();
  const std::string all = read_file(events.file());
  ASSERT_TRUE(all.starts_with(header));
  // step 300 as a varint, then the summary: its value's tag and the float 0.5.
  EXPECT_NE(all.find(std::string("\x10\xac\x02", 3)), std::string::npos);
  EXPECT_NE(all.find(std::string("\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\0\x3f", 15)),
            std::string::npos);
}

TEST(TensorBoard, TwoWritersInASecondKeepApart) {
  const Scratch scratch;
  const TensorBoardEvents first(scratch.path()), second(scratch.path(), 10);
  EXPECT_NE(first.file(), second.file());
  EXPECT_EQ(scratch.names().size(), 2u);
}

TEST(TensorBoard, BadFolderIsTheUsersError) {
  const Scratch scratch;
  const auto file = scratch.put("file", "x");
  expect_user_error([&] { TensorBoardEvents events(file / "below"); }, {"file"});
}

}  // namespace
}  // namespace agora::report
