// Mechanisms run, audited, trained and computed, as the program does it.
//
//   bench_auctions [--threads N] [WORK...]
//   bench_auctions --serve --threads N --inputs FOLDER
//                  answers each line `WORK REPS` by one line of JSON; before the first answer of a
//                  work, FOLDER/WORK.safetensors holds what a peer needs to do the same
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>

#include "auctions/audit/search.h"
#include "auctions/exact/optimal_lp.h"
#include "auctions/network.h"
#include "auctions/run_bids.h"
#include "auctions/training/trainer.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/rng.h"
#include "bench/works.h"

namespace agora::bench {
namespace {

using namespace agora::auctions;

constexpr uint64_t kSeed = 1;
constexpr int64_t kProfiles = 100'000;  // of the works that run bids
std::filesystem::path inputs;           // empty: nobody else needs them

template <typename T>
StoredTensor stored(std::string name, std::vector<int64_t> shape, const std::vector<T>& values) {
  return StoredTensor::of<T>(std::move(name), std::move(shape), std::span<const T>(values));
}

// The weights of a mechanism in the precision in which it uses them.
std::vector<StoredTensor> weights(const Mechanism& mechanism) {
  std::vector<StoredTensor> result;
  for (const auto& [name, tensor] : mechanism.parameters().tensors) {
    const std::vector<float> values(tensor.values.begin(), tensor.values.end());
    result.push_back(stored(name, tensor.shape, values));
  }
  return result;
}

void publish(const std::string& work, std::vector<StoredTensor> tensors,
             const std::map<std::string, double>& numbers = {}) {
  if (inputs.empty()) return;
  TensorFile file{.tensors = std::move(tensors), .metadata = {}, .path = {}};
  for (const auto& [name, value] : numbers) file.metadata[name] = fmt::format("{}", value);
  write_safetensors(inputs / (work + ".safetensors"), file);
}

// Of the products of a network for one profile, forward.
double forward_flops(const Mechanism& mechanism, double products_per_weight) {
  double flops = 0;
  for (const auto& [name, tensor] : mechanism.parameters().tensors) {
    const bool exchangeable = name.ends_with(".own");  // the other three are added to it
    if (tensor.shape.size() == 2 && (exchangeable || name.ends_with(".weight"))) {
      flops += 2 * products_per_weight * static_cast<double>(tensor.values.size());
    }
  }
  return flops;
}

Answer revenue_of(const Outcome& outcome) {
  double revenue = 0;
  for (const double payment : outcome.payments) revenue += payment / kProfiles;
  return {{"revenue", revenue}};
}

Work run_work(const std::string& name, const std::shared_ptr<const Mechanism>& mechanism,
              const Setting& market, double flops) {
  const int64_t n = market.bidders(), m = market.items();
  auto bids = std::make_shared<std::vector<double>>(kProfiles * n * m);
  market.sample(kSeed, kEvaluationStream, 0, kProfiles, bids->data());
  std::vector<StoredTensor> tensors = weights(*mechanism);
  tensors.push_back(stored("bids", {kProfiles, n, m}, *bids));
  publish(name, std::move(tensors));
  return {.run = [=] { return revenue_of(auctions::run(*mechanism, *bids)); },
          .flops = flops,
          .amount = kProfiles};
}

Work run_equivariantnet(const std::string& name) {
  const Setting market = setting("2x2");
  const std::shared_ptr<const Mechanism> mechanism =
      untrained(mechanism_kind("equivariantnet"), market, 3, 25, kSeed);
  return run_work(name, mechanism, market, kProfiles * forward_flops(*mechanism, 4));
}

Work run_vcg(const std::string& name) {
  const Setting market = setting("3x10");
  return run_work(name, exact("vcg", market), market, 0);
}

Work run_entry_fees(const std::string& name) {
  const Setting market = setting("8x20");
  return run_work(name, exact("entry-fees", market, {.arguments = {{"design-profiles", 500}}}),
                  market, 0);
}

// With the weights of the start: how long it takes does not depend on them.
std::shared_ptr<const Mechanism> tariffs(const Setting& market) {
  return resumable_trainer("tariff", market, recipe("tariff", market), kSeed)->mechanism();
}

Work run_tariff(const std::string& name) {
  const Setting market = setting("3x10");
  return run_work(name, tariffs(market), market, 0);
}

// A folder that is removed with its last user.
std::shared_ptr<const std::filesystem::path> scratch_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "agora-bench-XXXXXX").string();
  CHECK(mkdtemp(name.data()) != nullptr, "no scratch folder");
  return {new std::filesystem::path(name), [](const std::filesystem::path* folder) {
            std::error_code ignored;
            std::filesystem::remove_all(*folder, ignored);
            delete folder;
          }};
}

// As `agora auction run --wide` does it, from a file and into one.
Work run_tariff_files(const std::string&) {
  const Setting market = setting("3x10");
  const std::shared_ptr<const Mechanism> mechanism = tariffs(market);
  const std::shared_ptr<const std::filesystem::path> folder = scratch_folder();
  const std::string bids = *folder / "bids.csv";
  std::vector<std::string> columns;
  for (int e = 0; e < market.bidders() * market.items(); ++e) {
    columns.push_back(fmt::format("b{}i{}", e / market.items() + 1, e % market.items() + 1));
  }
  std::vector<double> profile(columns.size());
  CsvWriter file(bids, columns);
  for (int64_t k = 0; k < kProfiles; ++k) {
    market.sample(kSeed, kEvaluationStream, k, 1, profile.data());
    for (const double bid : profile) file.cell(bid);
    file.end_row();
  }
  file.commit();
  return {.run =
              [=] {
                const RunOptions options{
                    .out = *folder / "outcome.csv", .wide = true, .draw = {}, .domain = {}};
                return Answer{
                    {"revenue",
                     run_bids(*mechanism, bids_from_file(bids, *mechanism), options).revenue}};
              },
          .amount = kProfiles};
}

// The thesis's test with its dropping of starts.
Work audit_regretnet(const std::string& name) {
  const Setting market = setting("2x2");
  const int64_t n = market.bidders(), m = market.items();
  const AuditOptions options{.regret_profiles = 64, .seed = kSeed};
  const std::shared_ptr<const Mechanism> mechanism =
      untrained(mechanism_kind("regretnet"), market, 2, 100, kSeed);

  const int64_t profiles = options.regret_profiles;
  std::vector<double> values(profiles * n * m);
  market.sample_held_out(kSeed, kEvaluationStream, 0, profiles, values.data());
  std::vector<StoredTensor> tensors = weights(*mechanism);
  for (int i = 0; i < n; ++i) {
    const Probe probe(*mechanism, market, i, values.data(), static_cast<int>(profiles));
    Bids starts;
    add_draws(market, BidSpace(market, i), kSeed, 0, probe, i, options.starts, starts);
    tensors.push_back(
        stored(fmt::format("starts.{}", i), {profiles, options.starts, m}, starts.rows));
  }
  tensors.push_back(stored("values", {profiles, n, m}, values));
  publish(name, std::move(tensors), {{"steps", options.steps}, {"rate", options.rate}});

  double updates = 0;  // of a profile and bidder, with the drops of adam_search
  for (int step = 1, left = options.starts; step <= options.steps; ++step) {
    updates += left;
    if (step == 10 || step == 30 || step == 60 || step == 120) left = (left + 1) / 2;
  }
  updates *= static_cast<double>(profiles * n);
  return {.run =
              [=] {
                const RegretTest test = thesis_regret(*mechanism, market, options);
                return Answer{{"regret", test.mean}, {"p99", test.p99}};
              },
          .flops = updates * 2 * forward_flops(*mechanism, 1),  // and back to the bids
          .amount = static_cast<double>(profiles)};
}

// Whole iterations as published: draws or looks up values and misreports, searches for lies, steps.
Work train(const std::string& name, const std::string& mechanism, const std::string& text) {
  const Setting market = setting(text);
  const int64_t n = market.bidders(), m = market.items();
  const Recipe how = recipe(mechanism, market, "thesis");
  const std::shared_ptr<ResumableTrainer> trainer =
      resumable_trainer(mechanism, market, how, kSeed);
  if (!inputs.empty()) {
    std::vector<StoredTensor> tensors = trainer->state();
    const int64_t profiles = how.samples > 0 ? how.samples : 2 * how.batch;
    std::vector<float> values(profiles * n * m);
    market.sample(kSeed, kTrainingStream, 0, profiles, values.data());
    tensors.push_back(stored("values", {profiles, n, m}, values));
    std::vector<int64_t> order(how.samples);  // in which the first epoch takes the sample
    std::iota(order.begin(), order.end(), int64_t{0});
    Rng(kSeed, kOrderStream, 0).shuffle(order);
    tensors.push_back(stored("order", {how.samples}, order));
    publish(name, std::move(tensors),
            {{"batch", how.batch},
             {"hidden", how.hidden},
             {"rate", how.rate},
             {"misreport_steps", how.misreport_steps},
             {"misreport_rate", how.misreport_rate},
             {"multiplier", how.multiplier},
             {"multiplier_every", how.multiplier_every},
             {"penalty", how.penalty},
             {"penalty_step", how.penalty_step},
             {"penalty_every", how.penalty_every}});
  }
  return {.run =
              [=] {
                trainer->advance(1);
                const TrainingNumbers numbers = trainer->numbers();
                return Answer{{"revenue", numbers.revenue}, {"regret", numbers.regret}};
              },
          .flops = trainer->iteration_flops(),
          .amount = 1};
}

// The optimal sale of two items to one bidder on a grid of values.
Work lp(const std::string& name, int points) {
  const TypeSpace space = type_space(setting("1x2"), points);
  publish(name, {stored("grid", {points}, space.grids[0][0])});
  return {.run =
              [=] {
                return Answer{{"revenue", solve_optimal(space, true).revenue}};
              },
          .amount = 1};
}

Works works() {
  Works all;
  const auto add = [&](const std::string& name, auto make, auto... more) {
    all.emplace_back(name, [=] { return make(name, more...); });
  };
  add("run-equivariantnet-2x2", run_equivariantnet);
  add("run-vcg-3x10", run_vcg);
  add("run-entry-fees-8x20", run_entry_fees);
  add("run-tariff-3x10", run_tariff);
  add("run-tariff-3x10-files", run_tariff_files);
  add("audit-regretnet-2x2", audit_regretnet);
  add("train-regretnet-1x2", train, "regretnet", "1x2");
  add("train-regretnet-2x2", train, "regretnet", "2x2");
  add("train-equivariantnet-2x2", train, "equivariantnet", "2x2");
  add("train-algnet-1x2", train, "algnet", "1x2");
  add("train-algnet-2x2", train, "algnet", "2x2");
  add("lp-1x2-50", lp, 50);
  return all;
}

}  // namespace
}  // namespace agora::bench

int main(int count, char** arguments) {
  using namespace agora::bench;
  return run_program(
      count, arguments,
      [](agora::cli::OptionList& app) {
        app.add("--inputs", inputs, "Folder to write what the peers need to");
      },
      [](const Asked& asked) { answer(works(), asked); });
}
