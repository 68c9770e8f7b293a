#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace agora::cli {

// Makes an option of whole or real numbers refuse what is none of them or out of range; the parser
// alone takes the nearest number that it can hold, and 010 for eight.
void expect_numbers(CLI::Option& option);

// Checks of options, in our words.
CLI::Validator between(int64_t low, int64_t high);
CLI::Validator one_of(std::vector<std::string> words);

// Words that complete an option's value; `files` too, unless the words are all there are.
struct Offer {
  std::vector<std::string> words;
  bool files = true;
};
CLI::Validator offer(const std::vector<std::string>& words, bool files = true);  // checks nothing
Offer offer_of(const CLI::Option& option);

}  // namespace agora::cli
