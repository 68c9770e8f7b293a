#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace agora::planning {

// The R: lines of a Cassandra file. Each part of a rule may be kAny; of the rules that match,
// the one given last holds.
class CassandraRewards {
 public:
  static constexpr int32_t kAny = -1;

  void add(int32_t action, int32_t state, int32_t next, int32_t observation, double reward);
  bool by_observation() const { return by_observation_; }

  // R(s, a, s'), averaged over what is seen there: (observation, probability).
  double reward(int32_t action, int32_t state, int32_t next,
                std::span<const std::pair<int32_t, double>> seen) const;

 private:
  struct Key {
    int32_t action, state, next;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  struct Rule {
    int64_t order;
    int32_t observation;
    double reward;
  };

  std::unordered_map<Key, std::vector<Rule>, KeyHash> rules_;
  int64_t count_ = 0;
  bool wildcards_used_[8] = {};  // by the parts that are kAny: 1 action, 2 state, 4 next
  bool by_observation_ = false;
};

}  // namespace agora::planning
