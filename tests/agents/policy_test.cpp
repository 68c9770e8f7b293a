// Policies of others: what their metadata claim is checked before anything is made of it.
#include "agents/policy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "agents/algorithm.h"
#include "base/json.h"
#include "support/scratch.h"

namespace agora::agents {
namespace {

constexpr const char* kMetadata = "agora-policy";

class Claims : public ::testing::Test {
 protected:
  Claims() {
    const AgentOptions options{.environment = "maze",
                               .levels = Levels::range(0, 2),
                               .steps = 1,
                               .environments = 8,
                               .network = {.width = 8},
                               .arguments = {{"rollout", 8.0}}};
    save_policy(file, algorithm_named("ppo").make(options)->policy());
    saved = read_safetensors(file);
  }
  void refused(const char* path, const Json& value, const std::string& fragment) {
    TensorFile changed = saved;
    Json about = parse_json(changed.metadata.at(kMetadata), "metadata");
    about.at(JsonPath(path)) = value;
    changed.metadata[kMetadata] = dump_json(about);
    write_safetensors(file, changed);
    expect_user_error([&] { make_policy(load_policy(file), 1); }, {"p.safetensors", fragment});
  }

  const Scratch scratch;
  const std::filesystem::path file = scratch / "p.safetensors";
  TensorFile saved;
};

TEST_F(Claims, ThatCannotBeAreToldInOneLine) {
  EXPECT_NO_THROW(make_policy(load_policy(file), 1));
  refused("/actions", 0, "a size of 0 in its actions");
  refused("/actions", -3, "a size of -3");
  refused("/actions", 2'000'000'000, "expected 1 to");
  refused("/actions", 14, "policy.actor.weight");
  refused("/observation/shape", Json::array({-1}), "a size of -1 in its observations");
  refused("/observation/shape", Json::array(), "0 axes");
  refused("/observation/type", "zz", "its type is 'zz', expected byte or real");
  refused("/network/kind", "zz", "unknown network 'zz'");
  refused("/network/kind", "auto", "not decided");
  refused("/network/width", 1'000'000'000, "a size of");
  refused("/network/width", 0, "a size of 0 in its network");
  refused("/network/width", 100'000, "a network of 1");  // 10^10 numbers, never made
  refused("/network/layers", 0, "a size of 0");
  refused("/network/layers", 100'000, "100000 layers of 8 tensors");
  refused("/network/context", 5, "an encoder of 0 levels beside a context of 5");
  refused("/encoder_levels", 5, "an encoder of 5 levels beside a context of 0");
  refused("/encoder_levels", -1, "an encoder of -1 levels");
  refused("/link", "zz", "expected max or average");
  refused("/head", "zz", "expected values or actor-critic");
  refused("/temperature", -1.0, "temperature");
  refused("/members", 3, "policy.trunk.0.weight");
  refused("/environment_arguments", Json::array({1}), "no object");
  refused("/levels", -1, "learned on -1 levels");
  refused("/levels", 0, "learned on 0 levels");
}

TEST_F(Claims, OfAMemory) {
  SavedPolicy policy = load_policy(file);
  EXPECT_EQ(policy.memory.cost, 0);
  policy.memory = {.cost = 0.25, .radius = 0.5};
  save_policy(file, policy);
  saved = read_safetensors(file);
  EXPECT_EQ(load_policy(file).memory.cost, 0.25);
  EXPECT_EQ(load_policy(file).memory.radius, 0.5);
  refused("/memory/recall", -1.0, "recall is -1, expected 0 to 100");
  refused("/memory/recall-radius", 2.0, "recall-radius is 2, expected 0 to 1");
  refused("/memory/recall", "zz", "memory");
  refused("/memory", Json::array({1}), "memory");
}

TEST_F(Claims, OfAnEncoderThatIsNotThere) {
  const AgentOptions options{.environment = "maze",
                             .levels = Levels::range(0, 2),
                             .steps = 1,
                             .environments = 8,
                             .network = {.width = 8},
                             .arguments = {{"rollout", 16.0}}};
  save_policy(file, algorithm_named("ppo-context").make(options)->policy());
  saved = read_safetensors(file);
  EXPECT_NO_THROW(make_policy(load_policy(file), 1));
  refused("/encoder_levels", 3, "encoder.level.weight");
  refused("/encoder_levels", 2'000'000'000, "a network of 1");  // 10^11 numbers, never made
  refused("/network/context", 5, "policy.actor.weight");
}

TEST_F(Claims, OfAnExplorer) {
  EXPECT_TRUE(load_policy(file).explorer.empty());
  const AgentOptions options{
      .environment = "maze",
      .levels = Levels::range(0, 2),
      .steps = 1,
      .environments = 9,
      .network = {.width = 8},
      .arguments = {{"rollout", 8.0}, {"members", 2.0}, {"agree", 0.25}, {"explore-steps", 7.5}}};
  save_policy(file, algorithm_named("expgen").make(options)->policy());
  saved = read_safetensors(file);
  const SavedPolicy policy = load_policy(file);
  EXPECT_EQ(policy.exploration.agree, 0.25);
  EXPECT_EQ(policy.exploration.steps, 7.5);
  EXPECT_EQ(policy.members.size(), 2U);
  EXPECT_FALSE(policy.explorer.empty());
  EXPECT_NO_THROW(make_policy(policy, 1));
  refused("/explorer/agree", 1.5, "agree is 1.5, expected 0 to 1");
  refused("/explorer/explore-steps", 0.5, "explore-steps is 0.5, expected 1 to 10000");
  refused("/explorer/agree", "zz", "explorer");
  refused("/explorer", Json::array({1}), "explorer");
  refused("/observation/shape", Json::array({675}), "observations are none");
  refused("/observation/type", "real", "observations are none");
  refused("/observation/shape", Json::array({675, 1, 1}), "policy.trunk.0.weight");
  refused("/head", "values", "an explorer beside values");
  const auto without = [&](const std::string& start, const std::string& fragment) {
    TensorFile changed = saved;
    std::erase_if(changed.tensors,
                  [&](const StoredTensor& each) { return each.name.starts_with(start); });
    write_safetensors(file, changed);
    expect_user_error([&] { make_policy(load_policy(file), 1); }, {"p.safetensors", fragment});
  };
  without("explorer.", "an explorer without tensors");
  without("explorer.policy.actor.bias", "policy.actor.bias");
  TensorFile changed = saved;
  Json about = parse_json(changed.metadata.at(kMetadata), "metadata");
  about.erase("explorer");
  changed.metadata[kMetadata] = dump_json(about);
  write_safetensors(file, changed);
  expect_user_error([&] { load_policy(file); }, {"'explorer.policy.", "of no member"});
}

TEST_F(Claims, OfMembersAreWholeNumbers) {
  for (const char* name : {"0x.policy.a", "0", "policy", ".policy", "1.policy.a", "-1.policy.a"}) {
    TensorFile changed = saved;
    changed.tensors[0].name = name;
    write_safetensors(file, changed);
    expect_user_error([&] { load_policy(file); }, {"p.safetensors", "of no member"});
  }
}

// What is not finite never leaves as an answer.
TEST_F(Claims, OfNumbersThatAreNone) {
  for (StoredTensor& tensor : saved.tensors) {
    if (!tensor.name.ends_with("actor.bias")) continue;
    const float none = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(tensor.bytes.data(), &none, sizeof none);
  }
  write_safetensors(file, saved);
  const auto policy = make_policy(load_policy(file), 1);
  const std::vector<std::byte> seen(static_cast<size_t>(policy->space().observation.bytes()));
  std::vector<float> logits(static_cast<size_t>(policy->space().actions));
  expect_user_error([&] { policy->logits(seen, 1, logits); }, {"p.safetensors", "not finite"});
}

// A network for pictures with observations that are none must not get as far as looking at axes.
TEST_F(Claims, OfAPictureThatIsNone) {
  TensorFile changed = saved;
  Json about = parse_json(changed.metadata.at(kMetadata), "metadata");
  about["observation"]["shape"] = Json::array({675});
  for (const char* kind : {"impala", "conv"}) {
    about["network"]["kind"] = kind;
    changed.metadata[kMetadata] = dump_json(about);
    write_safetensors(file, changed);
    expect_user_error([&] { make_policy(load_policy(file), 1); },
                      {"p.safetensors", "takes pictures"});
  }
}

}  // namespace
}  // namespace agora::agents
