#include "base/idx.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/features.h"
#include "support/scratch.h"

namespace agora {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string all;
  for (const int value : values) all += static_cast<char>(value);
  return all;
}

const std::string kGood = bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 250});

TEST(Idx, IsRead) {
  const Scratch scratch;
  const IdxArray array = read_idx(scratch.put("a", kGood));
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(array.values, (std::vector<uint8_t>{1, 2, 3, 4, 5, 250}));
}

TEST(Idx, IsUnpacked) {
  if (!AGORA_HAS_ZLIB) GTEST_SKIP() << "no zlib";
  const Scratch scratch;
  std::string large = bytes({0, 0, 8, 1, 0, 3, 0, 0});  // 196,608 bytes
  for (uint32_t k = 0; k < 196'608; ++k) large += static_cast<char>(k * k >> 8);
  scratch.put("a", large);
  ASSERT_EQ(std::system(("gzip '" + (scratch / "a").string() + "'").c_str()), 0);
  const IdxArray array = read_idx(scratch / "a.gz");
  EXPECT_EQ(std::string(array.values.begin(), array.values.end()), large.substr(8));

  std::ifstream stream(scratch / "a.gz", std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(stream), {}};
  for (const size_t length : {size_t{2}, size_t{11}, packed.size() / 2, packed.size() - 1}) {
    expect_user_error([&] { parse_idx(packed.substr(0, length), "f"); }, {"f: "});
  }
  std::string broken = packed;
  broken[broken.size() - 6] ^= 1;  // of the checksum
  expect_user_error([&] { parse_idx(broken, "f"); }, {"f: packed, but broken"});
}

TEST(Idx, IsRefusedWhereItIsNone) {
  const auto refused = [](const std::string& what, const std::vector<std::string>& told) {
    expect_user_error([&] { parse_idx(what, "f"); }, told);
  };
  refused("", {"f: this is no IDX file"});
  refused("PK\3\4", {"f: this is no IDX file"});
  refused(bytes({0, 0, 13, 1, 0, 0, 0, 1, 0, 0, 0, 0}), {"type 13", "expected 8"});
  refused(bytes({0, 0, 8, 0}), {"0 dimensions"});
  refused(bytes({0, 0, 8, 5}), {"5 dimensions"});
  refused(kGood.substr(0, 10), {"ends within its sizes"});
  refused(kGood.substr(0, kGood.size() - 1), {"ends before its 6 bytes"});
  refused(kGood + "x", {"goes on after its 6 bytes"});
  refused(bytes({0, 0, 8, 1, 0, 0, 0, 0}), {"a size is 0"});
  refused(bytes({0, 0, 8, 2, 255, 255, 255, 255, 255, 255, 255, 255}), {"more than 1024 MiB"});
  refused(bytes({0, 0, 8, 1, 63, 255, 255, 255, 1}), {"ends before its 1073741823 bytes"});
  expect_user_error([] { read_idx("/nowhere/at/all"); }, {"/nowhere/at/all"});
}

}  // namespace
}  // namespace agora
