#include "base/safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/rng.h"
#include "support/scratch.h"

namespace agora {
namespace {

TensorFile example() {
  const std::vector<float> weight{1, 2, 3, 4, 5, 6};
  const std::vector<double> bias{0.5, -0.25};
  const std::vector<int64_t> step{7};
  const std::vector<uint8_t> mask{0, 1, 255};
  return {.tensors = {StoredTensor::of<float>("weight", {3, 2}, weight),
                      StoredTensor::of<uint8_t>("mask", {3}, mask),
                      StoredTensor::of<double>("bias", {2}, bias),
                      StoredTensor::of<int64_t>("step", {}, step)},
          .metadata = {{"format", "pt"}, {"a", "b"}},
          .path = {}};
}

class Safetensors : public ::testing::Test {
 protected:
  TensorFile read(std::string_view bytes) {
    return read_safetensors(scratch_.put("t.safetensors", bytes));
  }
  // A file with this header and so many bytes of data.
  static std::string bytes_of(const std::string& header, size_t data) {
    const uint64_t length = header.size();
    std::string bytes(reinterpret_cast<const char*>(&length), 8);
    return bytes + header + std::string(data, '\1');
  }
  void expect_fault(std::string_view bytes, const std::string& fragment) {
    SCOPED_TRACE(bytes.substr(0, 200));
    expect_user_error([&] { read(bytes); }, {"t.safetensors", fragment});
  }
  void expect_fault(const std::string& header, size_t data, const std::string& fragment) {
    expect_fault(bytes_of(header, data), fragment);
  }
  Scratch scratch_;
  std::filesystem::path path_ = scratch_ / "t.safetensors";
};

TEST_F(Safetensors, RoundTrip) {
  write_safetensors(path_, example());
  const TensorFile file = read_safetensors(path_);
  EXPECT_EQ(file.metadata, example().metadata);
  ASSERT_EQ(file.tensors.size(), 4u);
  for (const StoredTensor& tensor : example().tensors) {
    const StoredTensor& found = file.at(tensor.name, tensor.shape);
    EXPECT_EQ(found.dtype, tensor.dtype);
    EXPECT_EQ(found.bytes, tensor.bytes);
  }
  EXPECT_EQ(file.at("weight").values<double>(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(file.at("step").values<int64_t>(), (std::vector<int64_t>{7}));
  EXPECT_EQ(file.at("mask").values<float>(), (std::vector<float>{0, 1, 255}));
  expect_user_error([&] { file.at("bias").values<int64_t>(); }, {"whole numbers", "F64"});
  expect_user_error([&] { file.at("wieght"); }, {"t.safetensors", "did you mean 'weight'"});
  expect_user_error([&] { file.at("weight", {2, 3}); }, {"(3, 2)", "expected (2, 3)"});
}

// Two's complement, little-endian, by hand.
TEST_F(Safetensors, SignedAndUnsignedIntegers) {
  const auto integers = [&](const std::string& dtype, std::string_view data, size_t size) {
    const std::string header =
        fmt::format(R"({{"t":{{"dtype":"{}","shape":[{}],"data_offsets":[0,{}]}}}})", dtype,
                    data.size() / size, data.size());
    std::string bytes = bytes_of(header, 0);
    const TensorFile file = read(bytes.append(data));
    const std::vector<int64_t> whole = file.at("t").values<int64_t>();
    const std::vector<double> real = file.at("t").values<double>();
    EXPECT_EQ(real, std::vector<double>(whole.begin(), whole.end()));
    return whole;
  };
  using Whole = std::vector<int64_t>;
  using namespace std::string_view_literals;
  EXPECT_EQ(integers("I8", "\xff\x80\x7f"sv, 1), (Whole{-1, -128, 127}));
  EXPECT_EQ(integers("U8", "\xff\x80\x7f"sv, 1), (Whole{255, 128, 127}));
  EXPECT_EQ(integers("I16", "\xfe\xff\x00\x80\x01\x02"sv, 2), (Whole{-2, -32768, 513}));
  EXPECT_EQ(integers("U16", "\xfe\xff\x00\x80\x01\x02"sv, 2), (Whole{65534, 32768, 513}));
  EXPECT_EQ(integers("I32", "\xfd\xff\xff\xff\x00\x00\x00\x80"sv, 4), (Whole{-3, -2147483648}));
  EXPECT_EQ(integers("U32", "\xfd\xff\xff\xff\x00\x00\x00\x80"sv, 4),
            (Whole{4294967293, 2147483648}));
  EXPECT_EQ(integers("I64", "\xfc\xff\xff\xff\xff\xff\xff\xff"sv, 8), (Whole{-4}));
  EXPECT_EQ(integers("U64", "\x00\x00\x00\x00\x01\x00\x00\x00"sv, 8), (Whole{4294967296}));
}

TEST_F(Safetensors, SameContentsSameBytes) {
  TensorFile file = example();
  write_safetensors(path_, file);
  const std::string first = read_file(path_);
  std::reverse(file.tensors.begin(), file.tensors.end());
  write_safetensors(path_, file);
  EXPECT_EQ(read_file(path_), first);
  uint64_t header = 0;
  std::memcpy(&header, first.data(), 8);
  EXPECT_EQ(header % 8, 0u);  // every tensor is aligned
}

TEST_F(Safetensors, HalfPrecision) {
  StoredTensor tensor{.name = "h", .dtype = DType::kF16, .shape = {7}, .bytes = {}};
  // 1, -2, smallest denormal, largest, infinity, nan, 1/3 rounded (IEEE 754 binary16).
  const uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x7bff, 0xfc00, 0x7e00, 0x3555};
  tensor.bytes.assign(reinterpret_cast<const char*>(halves),
                      reinterpret_cast<const char*>(halves) + sizeof halves);
  const auto values = tensor.values<float>();
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], -2);
  EXPECT_EQ(values[2], 0x1p-24f);
  EXPECT_EQ(values[3], 65504);
  EXPECT_EQ(values[4], -INFINITY);
  EXPECT_TRUE(std::isnan(values[5]));
  EXPECT_EQ(values[6], 0x1.554p-2f);
  tensor.dtype = DType::kBF16;
  EXPECT_EQ(tensor.values<float>()[1], -2.0f);
}

TEST_F(Safetensors, LyingFilesAreRefused) {
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(read(bytes_of(good, 8)).tensors.size(), 1u);
  EXPECT_EQ(read(bytes_of("{}", 0)).tensors.size(), 0u);
  const auto with = [&](std::string from, const std::string& to) {
    std::string header = good;
    return header.replace(header.find(from), from.size(), to);
  };
  expect_fault("", "it has 0 bytes");
  expect_fault("1234567", "it has 7 bytes");
  expect_fault(std::string(8, '\xff'), "claims 18446744073709551615 bytes");
  expect_fault(std::string("\x09\0\0\0\0\0\0\0{}", 10), "claims 9 bytes");
  expect_fault(bytes_of(good, 8).substr(0, 30), "claims");
  expect_fault(good, 7, "bytes 0 to 8 of 7");
  expect_fault(good, 9, "1 bytes belong to no tensor");
  expect_fault("", 0, "its header:1:1: expected JSON, found the end");
  expect_fault("[]", 0, "no JSON object");
  expect_fault("{\"a\":\xff}", 0, "its header:1:6: expected JSON");
  expect_fault("{\"\xff\":1}", 0, "its header:1:3: expected JSON");
  expect_fault(R"({"a":1})", 0, "lacks dtype");
  expect_fault(R"({"":1,"":2})", 0, "a second member ''");
  expect_fault(with("F32", "F64"), 8, "contradict");
  expect_fault(with("F32", "X9"), 8, "unknown dtype 'X9'");
  expect_fault(with("\"F32\"", "7"), 8, "lacks dtype");
  expect_fault(with("[2]", "[-2]"), 8, "found -2");
  expect_fault(with("[2]", "[2.5]"), 8, "found 2.5");
  expect_fault(with("[2]", "[\"2\"]"), 8, "found \"2\"");
  expect_fault(with("[2]", "[9223372036854775807,4]"), 8, "contradict");
  expect_fault(with("[2]", "[4294967296,4294967296,2]"), 8, "contradict");
  expect_fault(with("[2]", "[18446744073709551615]"), 8, "contradict");
  expect_fault(with("[2]", "[1e300]"), 8, "found 1e+300");
  expect_fault(with("[0,8]", "[8,0]"), 8, "bytes 8 to 0");
  expect_fault(with("[0,8]", "[0,8,8]"), 8, "lacks");
  expect_fault(with("[0,8]", "[4,12]"), 12, "starts at byte 4");
  expect_fault(with("[0,8]", "[0,18446744073709551615]"), 8, "18446744073709551615 of 8");
  const std::string inside = good.substr(1, good.size() - 2);
  expect_fault("{" + inside + "," + inside + "}", 8, "a second member 'a'");
  std::string other = inside;
  other[1] = 'b';
  expect_fault("{" + inside + "," + other + "}", 8, "starts at byte 0, expected 8");
  expect_fault(R"({"__metadata__":{"a":1}})", 0, "metadata");
  expect_fault(R"({"__metadata__":[]})", 0, "metadata");
  expect_fault(std::string(100'000, '['), 0, "nested more than 100 deep");
  expect_user_error([&] { read_safetensors(scratch_ / "absent"); }, {"absent"});
  expect_user_error([&] { read_safetensors(scratch_.path()); }, {"folder"});
}

// Whatever bytes change, the file is read whole or refused in one line.
TEST_F(Safetensors, MutatedFilesNeverCrash) {
  write_safetensors(path_, example());
  const std::string good = read_file(path_);
  constexpr std::string_view kDigits = "0123456789[]{}\",:-eF";
  Rng rng(3);
  int refused = 0, accepted = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    std::string bytes = good;
    for (uint32_t change = 0; change <= rng.below(3); ++change) {
      char& byte = bytes[rng.below(static_cast<uint32_t>(bytes.size()))];
      byte = trial % 2 == 0 ? static_cast<char>(rng.bits()) : kDigits[rng.below(kDigits.size())];
    }
    if (trial % 10 == 0) bytes.resize(rng.below(static_cast<uint32_t>(bytes.size())));
    try {
      for (const StoredTensor& tensor : read(bytes).tensors) tensor.values<double>();
      ++accepted;
    } catch (const UserError& error) {
      ++refused;
      ASSERT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 100);  // a changed value or letter of a name is no fault
}

TEST_F(Safetensors, OurOwnMistakesAreChecked) {
  const std::vector<float> two(2);
  EXPECT_THROW(StoredTensor::of<float>("a", {3}, two), Error);
  TensorFile file{.tensors = {StoredTensor::of<float>("a", {2}, two)}, .metadata = {}, .path = {}};
  file.tensors.push_back(file.tensors[0]);
  EXPECT_THROW(write_safetensors(path_, file), Error);
  EXPECT_TRUE(scratch_.names().empty());
}

}  // namespace
}  // namespace agora
