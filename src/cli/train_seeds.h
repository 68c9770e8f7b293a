#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/verb.h"

namespace agora::cli {

// "1-5", "1,3,7" or "1-3,8"; anything else, and a seed given twice, is the user's mistake.
std::vector<uint64_t> seeds_named(const std::string& text);
// What --seeds says, nothing where it is not given; beside --seed it is the user's mistake.
std::vector<uint64_t> seeds_told(const OptionList& app, const std::string& text);

// A verb that trains, and what of its results is averaged.
struct SeedsOf {
  struct Quantity {
    const char *key, *title;
    JsonPath at;  // in the result of a training
  };
  std::vector<std::string> verb;                // {"auction", "train"}
  std::pair<const char*, const char*> heading;  // members of a result: "NAME on PLACE, 5 seeds"
  std::vector<Quantity> quantities;
};

// The verb with each of these seeds, in processes of their own that share the threads: pool,
// device and signals belong to a process, and a training's bits depend on none of them. Run folders
// are RUN/seed-K, files OUT-seed-K. Prints a line per seed, and means with their intervals.
void train_seeds(const SeedsOf& what, const std::string& seeds, const std::string& run,
                 const std::string& out, const Common& common);

}  // namespace agora::cli
