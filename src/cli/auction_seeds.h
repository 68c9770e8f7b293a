#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/verb.h"

namespace agora::cli {

// "1-5", "1,3,7" or "1-3,8"; anything else, and a seed given twice, is the user's mistake.
std::vector<uint64_t> seeds_named(const std::string& text);

// `auction train` with each of these seeds, in processes of their own that share the threads: pool,
// device and signals belong to a process, and a training's bits depend on none of them. Run folders
// are RUN/seed-K, mechanisms OUT-seed-K. Prints a line per seed, and means with their intervals.
void train_seeds(const std::string& seeds, const std::string& run, const std::string& out,
                 const Common& common);

}  // namespace agora::cli
