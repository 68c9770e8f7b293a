#include "planning/formats/cassandra_rewards.h"

namespace agora::planning {

size_t CassandraRewards::KeyHash::operator()(const Key& key) const {
  uint64_t hash = 0;
  for (const int32_t part : {key.action, key.state, key.next}) {
    hash = (hash ^ static_cast<uint32_t>(part)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

void CassandraRewards::add(int32_t action, int32_t state, int32_t next, int32_t observation,
                           double reward) {
  wildcards_used_[(action == kAny) | (state == kAny) << 1 | (next == kAny) << 2] = true;
  std::vector<Rule>& rules = rules_[{action, state, next}];
  if (observation == kAny) rules.clear();
  by_observation_ |= observation != kAny;
  rules.push_back({count_++, observation, reward});
}

double CassandraRewards::reward(int32_t action, int32_t state, int32_t next,
                                std::span<const std::pair<int32_t, double>> seen) const {
  std::vector<const Rule*> matching;
  bool observed = false;
  for (int parts = 0; parts < 8; ++parts) {
    if (!wildcards_used_[parts]) continue;
    const auto found =
        rules_.find({parts & 1 ? kAny : action, parts & 2 ? kAny : state, parts & 4 ? kAny : next});
    if (found == rules_.end()) continue;
    for (const Rule& rule : found->second) {
      matching.push_back(&rule);
      observed |= rule.observation != kAny;
    }
  }
  const auto last = [&](int32_t observation) {
    const Rule* best = nullptr;
    for (const Rule* rule : matching) {
      if (rule->observation != kAny && rule->observation != observation) continue;
      if (best == nullptr || rule->order > best->order) best = rule;
    }
    return best == nullptr ? 0.0 : best->reward;
  };
  if (!observed) return last(kAny);
  double mean = 0;
  for (const auto& [observation, probability] : seen) mean += probability * last(observation);
  return mean;
}

}  // namespace agora::planning
