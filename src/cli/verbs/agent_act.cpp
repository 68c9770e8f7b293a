#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/csv.h"
#include "base/error.h"
#include "base/files.h"
#include "base/safetensors.h"
#include "base/signals.h"
#include "cli/agent_options.h"
#include "nn/categorical.h"

namespace agora::cli::kind_agent_act {
namespace {

using agents::ObservationSpace;

constexpr int64_t kRowsAtOnce = 64;

struct Settings {
  std::string policy, file, out;
};

void append(std::vector<std::byte>& all, double number, const ObservationSpace& space,
            const std::string& where) {
  if (space.type == ObservationSpace::Type::kByte) {
    if (!(number >= 0 && number <= 255) || number != std::floor(number)) {
      throw user_error("{}: expected whole numbers from 0 to 255, found {}", where, number);
    }
    all.push_back(static_cast<std::byte>(number));
    return;
  }
  const auto real = static_cast<float>(number);
  if (!std::isfinite(real))
    throw user_error("{}: expected finite numbers, found {}", where, number);
  const auto* bytes = reinterpret_cast<const std::byte*>(&real);
  all.insert(all.end(), bytes, bytes + sizeof real);
}

// (rows, bytes of an observation): the tensor `observations`, or the rows of a table.
std::vector<std::byte> read_observations(const std::string& file, const ObservationSpace& space) {
  std::vector<std::byte> all;
  if (std::filesystem::path(file).extension() == ".csv") {
    CsvReader reader(file);
    if (static_cast<int64_t>(reader.columns().size()) != space.size()) {
      throw user_error("{}: expected {} columns, one for each number of an observation, found {}",
                       file, space.size(), reader.columns().size());
    }
    while (reader.next()) {
      for (size_t k = 0; k < reader.columns().size(); ++k) {
        append(all, reader.number(k), space, fmt::format("{}:{}", file, reader.line()));
      }
    }
    return all;
  }
  const TensorFile saved = read_safetensors(file);
  const StoredTensor* tensor = saved.find("observations");
  if (tensor == nullptr || tensor->size() % space.size() != 0) {
    throw user_error("{}: expected a tensor 'observations' of rows of {} numbers", file,
                     space.size());
  }
  for (const double number : tensor->values<double>()) append(all, number, space, file);
  return all;
}

void run(const Settings& settings, const Common& common) {
  const PolicyOptions chosen{.policy = settings.policy};
  const auto policy = agents::make_policy(agents::load_policy(chosen.file()), kRowsAtOnce);
  const ObservationSpace& space = policy->space().observation;
  const std::vector<std::byte> seen = read_observations(settings.file, space);
  const int64_t rows = static_cast<int64_t>(seen.size()) / space.bytes();
  const auto actions = static_cast<size_t>(policy->space().actions);
  std::string table = "row,action";
  for (size_t a = 0; a < actions; ++a) table += fmt::format(",p{}", a);
  table += '\n';
  Json chances = Json::array();
  std::vector<float> logits(kRowsAtOnce * actions);
  for (int64_t first = 0; first < rows; first += kRowsAtOnce) {
    throw_if_stopped();
    const int64_t count = std::min(kRowsAtOnce, rows - first);
    for (int64_t row = 0; row < count; ++row) policy->forget(row);
    policy->logits(std::span(seen).subspan(first * space.bytes(), count * space.bytes()), count,
                   std::span(logits).first(count * actions));
    for (int64_t row = 0; row < count; ++row) {
      const auto own = std::span<const float>(logits).subspan(row * actions, actions);
      const float largest = own[static_cast<size_t>(nn::most_likely(own))];
      double sum = 0;
      for (const float each : own) sum += std::exp(static_cast<double>(each - largest));
      table += fmt::format("{},{}", first + row, nn::most_likely(own));
      Json line = Json::array();
      for (const float each : own) {
        line.push_back(std::exp(static_cast<double>(each - largest)) / sum);
        table += fmt::format(",{:.9g}", line[line.size() - 1].get<double>());
      }
      chances.push_back(std::move(line));
      table += '\n';
    }
  }
  if (!settings.out.empty()) {
    write_atomically(settings.out, table);
    note_saved(fmt::format("wrote {}", settings.out));
  }
  if (common.json) return print_json({{"policy", chosen.file()}, {"probabilities", chances}});
  if (settings.out.empty()) fmt::print("{}", table);
}

}  // namespace

Verb entry_agent_act() {
  return {.name = "agent act",
          .summary = "What a policy does in observations of a file, each the first of an episode",
          .example =
              "agora agent train ppo --env tabular/features --levels 1 --steps 4096 --episodes 10 "
              "--out p.safetensors && printf 'row,column\\n0.1,0.2\\n' > seen.csv && "
              "agora agent act p.safetensors seen.csv",
          .takes_device = true,
          .declare = [](OptionList& app) {
            auto settings = std::make_shared<Settings>();
            app.add("policy", settings->policy, "A run's folder, or a policy's file").required();
            app.add("file", settings->file,
                    "safetensors with a tensor `observations`, or a CSV: a row is an observation")
                .required();
            app.add("--out", settings->out, "Write the table to this file");
            return [settings](const Common& common) { run(*settings, common); };
          }};
}

}  // namespace agora::cli::kind_agent_act
