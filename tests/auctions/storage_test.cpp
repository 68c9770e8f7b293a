// Mechanism files from elsewhere: numbers that are none, shapes that do not fit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "auctions/audit/audit.h"
#include "auctions/mechanism.h"
#include "auctions/network.h"
#include "auctions/run_bids.h"
#include "auctions/setting.h"
#include "base/json.h"
#include "base/safetensors.h"
#include "made.h"
#include "support/scratch.h"
#include "trained.h"

namespace agora::auctions {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::unique_ptr<Mechanism> trial(const MechanismKind& kind) {
  const Setting market = setting(kind.trial_setting);
  if (kind.network) return untrained(kind, market, 2, 8, 3);
  return exact(kind.name, market, {.arguments = trial_arguments(kind)});
}

TEST(Storage, RefusesNumbersThatAreNotFinite) {
  const Scratch scratch;
  const std::string file = (scratch / "m.safetensors").string();
  for (const MechanismKind& kind : mechanisms()) {
    save(*trial(kind), file);
    const TensorFile good = read_safetensors(file);
    for (size_t t = 0; t < good.tensors.size(); ++t) {
      const StoredTensor& tensor = good.tensors[t];
      for (const double wrong : {std::nan(""), kInfinity, -kInfinity}) {
        TensorFile bad = good;
        std::vector<double> values = tensor.values<double>();
        values.back() = wrong;
        bad.tensors[t] = StoredTensor::of<double>(tensor.name, tensor.shape, values);
        write_safetensors(file, bad);
        expect_user_error([&] { load(file); },
                          {"m.safetensors", "'" + tensor.name + "'", wrong < 0 ? "-inf" : "n"});
      }
    }
  }
}

// Weights that a double holds and single precision does not.
TEST(Storage, RefusesWeightsBeyondSinglePrecision) {
  const Scratch scratch;
  const std::string file = (scratch / "m.json").string();
  save(*trial(mechanism_kind("regretnet")), file);
  Json json = parse_json_file(file);
  json["tensors"]["payment.0.bias"]["values"][0] = 1e39;
  write_json(file, json);
  expect_user_error([&] { load(file); }, {"m.json", "'payment.0.bias' holds 1e+39"});
}

// Finite weights whose sums are not: every verb says so instead of printing nan.
TEST(Storage, OutcomesThatOverflowAreNoAnswers) {
  const Scratch scratch;
  const Setting market = setting("2x3 uniform(0,1)");
  for (const std::string& name : trained()) {
    const MechanismKind& kind = mechanism_kind(name);
    Parameters parameters = trial(kind)->parameters();
    for (auto& [tensor, weights] : parameters.tensors) {
      if (tensor.starts_with("scale.")) continue;
      for (size_t k = 0; k < weights.values.size(); ++k) {
        weights.values[k] = k % 2 == 0 ? 3e38 : -3e38;
      }
    }
    if (name.find("ama") != std::string::npos) {  // knows what its numbers may be
      expect_user_error([&] { make_mechanism(kind, parameters); }, {name, "must"});
      continue;
    }
    const auto mechanism = make_mechanism(kind, parameters);
    const std::vector<std::string> told{name, "not finite"};
    expect_user_error([&] { evaluate(*mechanism, market, {.profiles = 10}); }, told);
    expect_user_error([&] { audit(*mechanism, market, {.profiles = 10, .regret_profiles = 2}); },
                      told);
    expect_user_error([&] { run(*mechanism, std::vector<double>(6, 0.5)); }, told);
    const std::string out = (scratch / "o.csv").string();
    expect_user_error(
        [&] {
          run_bids(*mechanism, bids_from_setting(market, 1, 5),
                   {.out = out, .wide = false, .draw = {}, .domain = {}});
        },
        told);
    EXPECT_FALSE(std::filesystem::exists(out));
  }
}

TEST(Storage, RefusesParametersThatDoNotFit) {
  const Scratch scratch;
  const std::string file = (scratch / "m.json").string();
  const auto refused = [&](const std::string& kind, const std::string& tensor, const Json& shape,
                           const Json& values, const std::string& told) {
    save(*trial(mechanism_kind(kind)), file);
    Json json = parse_json_file(file);
    json["tensors"][tensor] = {{"shape", shape}, {"values", values}};
    write_json(file, json);
    expect_user_error([&] { load(file); }, {"m.json", told});
  };
  refused("lp", "grid.b1i1", {0}, Json::array(), "rising");
  refused("lp", "grid.b1i1", {3}, {3, 2, 1}, "rising");
  refused("lp", "grid.b1i1", {20001}, std::vector<double>(20001, 1.0), "types");
  refused("menu", "choices", {int64_t{1} << 62, 3}, Json::array(), "shape");
  refused("menu", "choices", {-1, -3}, {1, 1, 1}, "shape");
  refused("myerson", "law", {3, 1}, {0, 1e300, 0}, "law");
  refused("myerson", "law", {3, 1}, {0, -1, 0}, "law");
  refused("regretnet", "allocation.0.weight", {0, 1 << 30}, Json::array(), "allocation.0.weight");
  refused("equivariantnet", "sold.0.own", {0, 1 << 30}, Json::array(), "sold.0.own");
}

TEST(Storage, TensorsAreAnObject) {
  const Scratch scratch;
  const std::string file = (scratch / "m.json").string();
  save(*trial(mechanism_kind("vcg")), file);  // which has none
  for (const Json& tensors : {Json::array(), Json{1}, Json("none"), Json(nullptr)}) {
    Json json = parse_json_file(file);
    json["tensors"] = tensors;
    write_json(scratch / "n.json", json);
    expect_user_error([&] { load((scratch / "n.json").string()); }, {"n.json", "'tensors'"});
  }
}

// A seller who never sells can be had without one.
TEST(Storage, AnInfiniteReserveIsNoReserve) {
  expect_user_error(
      [&] {
        exact("second-price", setting("1x1"), {.arguments = {{"reserve", kInfinity}}});
      },
      {"second-price: reserve is inf"});
}

}  // namespace
}  // namespace agora::auctions
