#include "agents/procgen/state.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <limits>

#include "base/error.h"

namespace agora::agents::procgen {
namespace {

constexpr int32_t kEnd = static_cast<int32_t>(0xCAFECAFE);  // the last word of a state

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  int32_t number() {
    int32_t value = 0;
    if (bytes_.size() - at_ < sizeof(value)) {
      good_ = false;
    } else {
      std::memcpy(&value, bytes_.data() + at_, sizeof(value));
      at_ += sizeof(value);
    }
    return value;
  }
  std::string text() {
    const int32_t size = number();
    if (size < 0 || bytes_.size() - at_ < static_cast<size_t>(size)) {
      good_ = false;
      return {};
    }
    at_ += static_cast<size_t>(size);
    return bytes_.substr(at_ - static_cast<size_t>(size), static_cast<size_t>(size));
  }
  size_t at() const { return at_; }
  bool good() const { return good_; }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
  bool good_ = true;
};

void put(std::string& bytes, size_t at, int32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

// The word that the generator turns into `drawn`: its four steps backwards.
uint32_t word_for(uint32_t drawn) {
  uint32_t word = drawn;
  word ^= word >> 18;
  word ^= (word << 15) & 0xEFC60000u;
  const uint32_t third = word;
  for (int known = 7; known < 32; known += 7) word = third ^ ((word << 7) & 0x9D2C5680u);
  const uint32_t second = word;
  for (int known = 11; known < 32; known += 11) word = second ^ (word >> 11);
  return word;
}

StateHead head_of(const std::string& state) {
  const std::optional<StateHead> head = StateHead::of(state);
  CHECK(head.has_value(), "a state of {} bytes", state.size());
  return *head;
}

}  // namespace

std::optional<StateHead> StateHead::of(const std::string& state) {
  Reader reader(state);
  StateHead head{};
  const int32_t version = reader.number();
  head.game = reader.text();
  for (int32_t& setting : head.settings) setting = reader.number();
  reader.number();  // whether it goes by cells
  head.bounds_at = reader.at();
  for (int skipped = 0; skipped < 4; ++skipped) reader.number();  // bounds, type, number
  reader.number();                                                // whether there is a generator
  head.generator_at = reader.at();
  reader.text();
  head.generator_size = reader.at() - head.generator_at;
  reader.number();  // the game's own generator
  reader.text();
  for (int skipped = 0; skipped < 4; ++skipped) reader.number();  // the last step
  head.limit_at = reader.at();
  head.limit = reader.number();
  head.level = reader.number();
  int32_t end = 0;
  if (state.size() >= sizeof(end)) {
    std::memcpy(&end, state.data() + state.size() - sizeof(end), sizeof(end));
  }
  if (!reader.good() || version != 0 || end != kEnd) return {};
  return head;
}

void plan_levels(std::string& state, int64_t next,
                 const std::function<int64_t(int64_t episode)>& level_of) {
  const StateHead head = head_of(state);
  // A level is what is drawn modulo the difference of the bounds: 2^31, as unsigned words have it.
  put(state, head.bounds_at, 0);
  put(state, head.bounds_at + 4, std::numeric_limits<int32_t>::min());
  const int64_t position = next % kPlanned, first = next - position;
  std::string generator;
  for (int64_t k = 0; k < kPlanned; ++k) {
    const auto drawn = static_cast<uint32_t>(level_of(first + k));
    fmt::format_to(std::back_inserter(generator), "{} ", word_for(drawn));
  }
  generator += fmt::format("{}", position);
  std::string length(4, '\0');
  put(length, 0, static_cast<int32_t>(generator.size()));
  state.replace(head.generator_at, head.generator_size, length + generator);
}

void lift_limit(std::string& state) {
  put(state, head_of(state).limit_at, std::numeric_limits<int32_t>::max());
}

}  // namespace agora::agents::procgen
