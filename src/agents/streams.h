#pragma once
#include <cstdint>

namespace agora::agents {

// What random numbers are drawn for; each purpose has a stream of its own.
enum class Stream : uint32_t {
  kLevels = 0x61670001,       // which level an episode plays
  kBootstrap,                 // which levels a member of an ensemble learns on
  kWorld,                     // what happens in an episode beyond its level
  kGenerate,                  // how a level is made from its number
  kActions,                   // what a policy draws
  kWeights = 0x61670100,      // initial weights, and so many after it as there are members
  kMinibatches = 0x61671100,  // in which order a learner looks at what it saw
  kDistilling,                // the same of one that imitates others
  kChunks,                    // the same of one that tells levels
  kReplay,                    // what it looks at again
  kEvaluation,                // levels and actions of an evaluation
  kImages,                    // which images a classification task has
  kResampling,                // confidence intervals
  kValueMinibatches,          // in which order a value of its own looks at what was seen
  kShifts,                    // how far pictures are moved
  kExploring,                 // how long an explorer acts where members disagree
};

constexpr uint32_t stream(Stream purpose) { return static_cast<uint32_t>(purpose); }

}  // namespace agora::agents
