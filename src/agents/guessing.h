#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/policy.h"

// Sequential classification (section 3.4 of the thesis): guesses until one is right.
namespace agora::agents {

inline constexpr int32_t kGuesses = 20;  // after which an episode is cut off

// Levels with the one action that is right there.
struct LabelledLevels {
  std::string environment;
  Arguments arguments;
  Space space = {};
  std::vector<std::byte> observations = {};  // (count, bytes)
  std::vector<int32_t> labels = {};          // (count)

  int64_t count() const { return static_cast<int64_t>(labels.size()); }
};
// Found by trying: the right action ends an episode at once. Anything else is a UserError.
LabelledLevels labelled_levels(const std::string& environment, const Arguments& arguments,
                               const Levels& levels);

// What is made of a policy that ranks labels by how sure it is.
enum class Guessing : uint8_t {
  kSame,               // its best label, again and again: what is optimal if it is never wrong
  kUniformAfterFirst,  // its best label, then any of all labels
  kElimination,        // its best label, then the second best, and so on: optimal with memory
  kSquareRoot,         // by the square roots of its probabilities: optimal without memory
};

// As a policy whose memory is how often it has guessed, for up to so many rows at a time.
std::unique_ptr<Policy> guessing_policy(Guessing how, std::unique_ptr<Policy> ranking,
                                        int64_t rows);

// The expected return of one image whose label is `label`, exactly.
double expected_return(Guessing how, std::span<const float> logits, int32_t label);

// Logits (count, labels) of all levels.
std::vector<float> logits_of(const SavedPolicy& policy, const LabelledLevels& levels);
double mean_return(Guessing how, std::span<const float> logits, const LabelledLevels& levels);

}  // namespace agora::agents
