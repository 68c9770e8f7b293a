#include <fmt/format.h>

#include <chrono>

#include "cli/auction_market.h"
#include "cli/auction_report.h"

namespace agora::cli {
namespace {

struct Options {
  std::string name, out;
  int64_t profiles = 1'000'000;
  int64_t regret_profiles = 100;
};

}  // namespace

Verb entry_auction_exact() {
  return {
      .name = "auction exact",
      .summary = "Compute a classical mechanism for a setting and say what it earns",
      .example = "agora auction exact itemwise-myerson --setting 2x2 --profiles 100000",
      .declare = [](CLI::App& app) {
        auto options = std::make_shared<Options>();
        auto market = declare_market(app);
        app.add_option("mechanism", options->name, "A name of `agora auction list`")->required();
        auto exact = declare_exact(app);
        app.add_option("--profiles", options->profiles, "Profiles the revenue is measured on")
            ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
            ->capture_default_str();
        app.add_option("--regret-profiles", options->regret_profiles,
                       "Profiles both searches for lies look at; 0: none")
            ->check(CLI::Range(int64_t{0}, int64_t{1} << 30))
            ->capture_default_str();
        app.add_option("--out", options->out, "Save it: .safetensors or .json");
        auto pictures = declare_pictures(app);
        return [=](const Common& common) {
          const auto start = std::chrono::steady_clock::now();
          const auctions::Setting setting = market->read();
          auctions::ExactOptions how = *exact;
          how.seed = common.seed;
          const auto mechanism = auctions::exact(options->name, setting, how);
          if (!options->out.empty()) auctions::save(*mechanism, options->out);
          auctions::Audit audit = auctions::audit(*mechanism, setting,
                                                  {.profiles = options->profiles,
                                                   .regret_profiles = options->regret_profiles,
                                                   .symmetry_profiles = 0,
                                                   .seed = common.seed});
          audit.seconds =
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
          pictures->write(common, *mechanism, setting, audit);
          print_audit(common, *mechanism, setting, audit);
          if (common.json) return;
          for (const auto& [key, value] : mechanism->parameters().notes) {
            fmt::print("  {:<18} {}\n", key, value);
          }
          if (!options->out.empty()) fmt::print("saved {}\n", options->out);
        };
      }};
}

}  // namespace agora::cli
